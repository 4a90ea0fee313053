// What a heap snapshot holds, in kB, by who keeps it. Three things grow in a server that leaks nothing, and each has an end: what V8 compiles, and the
// lists in which it notes what code depends on (more functions become hot for thousands of requests); undici's queue of each connection, in
// which a finished request leaves an empty slot until there are 256. They are counted apart: what is left is what our code keeps alive.
import { readFileSync } from "node:fs";

/** V8's own: code and what belongs to it, shapes of objects, weak lists. */
const COMPILED = new Set(["code", "hidden", "object shape"]);

/** `{ compiled, slots, data }` of the file that `v8.writeHeapSnapshot` wrote. */
export function heldIn(file) {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(file, "utf8"));
  const { node_fields: fields, node_types: types, edge_fields: edgeFields } = snapshot.meta;
  const [type, name, size, edgeCount] = ["type", "name", "self_size", "edge_count"].map((field) => fields.indexOf(field));
  const [label, target] = ["name_or_index", "to_node"].map((field) => edgeFields.indexOf(field));
  const kindOf = (node) => types[type][nodes[node + type]];
  const held = { compiled: 0, slots: 0, data: 0 };
  const queues = new Set();
  const elements = new Map();
  let edge = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    held[COMPILED.has(kindOf(node)) ? "compiled" : "data"] += nodes[node + size];
    const isClient = kindOf(node) === "object" && strings[nodes[node + name]] === "Client";
    for (let n = 0; n < nodes[node + edgeCount]; n++, edge += edgeFields.length) {
      const said = strings[edges[edge + label]];
      if (isClient && said === "<symbol queue>") queues.add(edges[edge + target]);
      if (said === "elements" && kindOf(edges[edge + target]) === "array") elements.set(node, edges[edge + target]);
    }
  }
  for (const queue of queues) held.slots += nodes[(elements.get(queue) ?? queue) + size];
  held.data -= held.slots;
  return { compiled: held.compiled / 1024, slots: held.slots / 1024, data: held.data / 1024 };
}
