/** Addresses of operations of the API, made of their parts. */

import type { Asked, Route } from '../../api/index.ts'

/** The path of a request to an operation, and its query: what streams are followed by. */
export function addressFor<Of extends Route>(route: Of, { params, query }: Asked<Of>): string {
  return addressOf(route.slice(route.indexOf(' ') + 1), params, query)
}

/** As `addressFor`, of a path alone. */
export function addressOf(path: string, params: object = {}, query: object = {}): string {
  const filled = Object.entries(params).reduce(
    (rest, [name, value]) => rest.replace(`:${name}`, encodeURIComponent(String(value))),
    path,
  )
  const asked = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)])
  )
  return asked.length === 0 ? filled : `${filled}?${String(new URLSearchParams(asked))}`
}
