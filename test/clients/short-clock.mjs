// Loaded into gemini-cli before it starts: makes its own timeouts shorter (60 s for headers, 300 s between two pieces, which no setting
// changes). undici keeps the dispatcher of all requests in a slot of the global object; the one put there is less patient.
const [headersTimeout, bodyTimeout] = process.env.CLIENT_PATIENCE_MS.split(",").map(Number);
const { defineProperty } = Object;

const impatient = (dispatcher) =>
  new Proxy(dispatcher, {
    get: (target, key) => {
      if (key === "dispatch") return (options, handler) => target.dispatch({ ...options, headersTimeout, bodyTimeout }, handler);
      const value = target[key];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

const isSlot = (target, key) =>
  target === globalThis && typeof key === "symbol" && Boolean(key.description?.startsWith("undici.globalDispatcher"));

Object.defineProperty = (target, key, how) =>
  defineProperty(target, key, isSlot(target, key) ? { ...how, value: impatient(how.value) } : how);
