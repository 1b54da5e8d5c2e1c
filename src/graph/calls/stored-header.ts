/** The head of a request of `node:http` once it is written, and before it is sent. */

import type { ClientRequest } from 'node:http'

import { changedPairs, headerPairs } from './request-headers.ts'

/** The parts of Node's outgoing messages that are read and changed here. */
interface OutgoingParts {
  _header: string | null
  _headerSent: boolean
  _storeHeader(...given: unknown[]): void
  readonly outputData: { data: unknown; readonly encoding: unknown }[]
}

/** Calls back when the head is complete. It may be so already. */
export function whenHeaderStored(request: ClientRequest, stored: () => void): void {
  const parts = partsOf(request)
  if (parts._header !== null) return stored()
  const { _storeHeader: store } = parts
  parts._storeHeader = function(...given) {
    parts._storeHeader = store
    store.apply(request, given)
    stored()
  }
}

/** Name and value pairs of the head. Throws if Node keeps it in another way. */
export function storedPairs(request: ClientRequest): readonly (readonly [string, string])[] {
  const lines = (partsOf(request)._header ?? '').split('\r\n').slice(1)
  return headerPairs(lines.flatMap((line) => {
    const at = line.indexOf(':')
    return at > 0 ? [line.slice(0, at), line.slice(at + 1).trim()] : []
  }))
}

/** True if the client waits with the body until the server asks for it. */
export function expectsContinue(request: ClientRequest): boolean {
  return storedPairs(request).some(([name]) => name.toLowerCase() === 'expect')
}

/** Changes headers of a request that was not sent yet. Throws if it was. */
export function changeStored(request: ClientRequest,
  changes: Readonly<Record<string, string | null>>): void {
  if (Object.keys(changes).length === 0) return
  const parts = partsOf(request)
  const before = parts._header ?? ''
  const [line = ''] = before.split('\r\n', 1)
  const pairs = changedPairs(storedPairs(request), changes)
  if (pairs.some((pair) => pair.some((text) => /[\r\n]/.test(text)))) {
    throw new TypeError('A header has a line break.')
  }
  const after = `${
    [line, ...pairs.map(([name, value]) => `${name}: ${value}`)].join('\r\n')
  }\r\n\r\n`
  parts._header = after
  if (!parts._headerSent) return
  const [first] = parts.outputData
  if (typeof first?.data !== 'string' || !first.data.startsWith(before)) {
    throw new Error('The head of a request was sent before it could be changed.')
  }
  first.data = after + first.data.slice(before.length)
}

function partsOf(request: ClientRequest): OutgoingParts {
  return request as unknown as OutgoingParts
}
