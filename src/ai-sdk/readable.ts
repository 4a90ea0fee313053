/** What an iterator gives, as a stream that asks for it piece by piece. (`ReadableStream.from` is not in every browser.) */
export const readable = <T>(items: AsyncIterator<T>): ReadableStream<T> =>
  new ReadableStream<T>({
    async pull(controller) {
      const { done, value } = await items.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await items.return?.();
    },
  });
