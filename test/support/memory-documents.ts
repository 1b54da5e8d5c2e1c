/** Documents in memory, for tests. */

import type { DocumentPlace, DocumentPort } from '../../src/platform/index.ts'

/** No documents yet. */
export function memoryDocuments(): DocumentPort {
  const places = new Map<string, Map<string, Uint8Array>>()
  const at = ({ tenant, kind, owner }: DocumentPlace) => {
    const name = JSON.stringify([tenant, kind, owner])
    const known = places.get(name) ?? new Map<string, Uint8Array>()
    places.set(name, known)
    return known
  }
  return {
    putDocuments: async (place, documents) => {
      for (const { key, body } of documents) at(place).set(key, Uint8Array.from(body))
    },
    getDocuments: async (place, keys) =>
      [...new Set(keys)].flatMap((key) => {
        const body = at(place).get(key)
        return body === undefined ? [] : [{ key, body }]
      }),
    listDocuments: async (place, { after = '', before = '\u007f', reverse, limit, bytes }) => {
      const all = [...at(place)].map(([key, body]) => ({ key, body }))
        .filter(({ key }) => key > after && key < before)
        .sort((a, b) => (a.key < b.key ? -1 : 1) * (reverse ? -1 : 1))
        .slice(0, Math.min(limit, 1_000))
      let size = 0
      const end = all.findIndex(({ body }, index) => {
        size += body.byteLength
        return index > 0 && size > (bytes ?? 8 * 1024 * 1024)
      })
      return end < 0 ? all : all.slice(0, end)
    },
    deleteDocuments: async (place, keys) => {
      for (const key of keys) at(place).delete(key)
    },
    dropDocuments: async (place) => {
      at(place).clear()
    },
  }
}
