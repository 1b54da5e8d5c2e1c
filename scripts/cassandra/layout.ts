/** Where the nodes of a cluster on one machine stand: their addresses and their tokens. */

/** The port that clients speak to, and the one that nodes speak to each other by. */
export const ports = { client: 9042, storage: 7000 }

/** Where clients knock first when nothing else is said. */
export const usualFirstAddress = '127.0.0.1'

export interface Place {
  readonly address: string
  /** Signed 64 bits, as Cassandra writes it. */
  readonly token: string
}

/** As many neighbouring loopback addresses as there are nodes, with the ring cut evenly. */
export function placesOf({ nodes, firstAddress }: {
  readonly nodes: number
  readonly firstAddress: string
}): readonly Place[] {
  const last = Number(/^127\.0\.0\.(\d{1,3})$/.exec(firstAddress)?.[1] ?? 0)
  if (!Number.isInteger(nodes) || nodes < 1 || last < 1 || last + nodes - 1 > 254) {
    throw new Error(`${nodes} nodes from ${firstAddress} on: the addresses of nodes are` +
      ' 127.0.0.1 to 127.0.0.254, one for each node, and at least one node is needed.')
  }
  return Array.from({ length: nodes }, (_, place) => ({
    address: `127.0.0.${last + place}`,
    token: String(-(2n ** 63n) + BigInt(place) * (2n ** 64n / BigInt(nodes))),
  }))
}
