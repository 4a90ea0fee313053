/** An iterator as a stream that pulls one item at a time. (Not every browser has `ReadableStream.from`.) */
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
