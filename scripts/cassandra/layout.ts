/** The layout of a cluster on one machine: the addresses and tokens of its nodes. */

/** The port for clients, and the one between nodes. */
export const ports = { client: 9042, storage: 7000 }

/** The default address of the first node. */
export const usualFirstAddress = '127.0.0.1'

/** The place of a node. */
export interface Place {
  readonly address: string
  /** Signed 64 bits, as Cassandra writes it. */
  readonly token: string
}

/** Consecutive loopback addresses, one per node, with evenly spaced tokens. */
export function placesOf({ nodes, firstAddress }: {
  readonly nodes: number
  readonly firstAddress: string
}): readonly Place[] {
  const last = Number(/^127\.0\.0\.(\d{1,3})$/.exec(firstAddress)?.[1] ?? 0)
  if (!Number.isInteger(nodes) || nodes < 1 || last < 1 || last + nodes - 1 > 254) {
    throw new Error(`${nodes} nodes from ${firstAddress} on: the addresses of nodes are` +
      ' 127.0.0.1 to 127.0.0.254, one for each node, and at least one node is needed.')
  }
  return Array.from({ length: nodes }, (_, index) => ({
    address: `127.0.0.${last + index}`,
    token: String(-(2n ** 63n) + BigInt(index) * (2n ** 64n / BigInt(nodes))),
  }))
}
