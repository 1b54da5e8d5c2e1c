/**
 * Memory that bodies of OpenTelemetry would take. A few bytes make a message in protobuf, and
 * what a resource and a scope say is kept by each of their spans, so the length of a body bounds
 * neither.
 */

import { HeddleError } from '../../../errors.ts'

/** Messages, or lists and objects, that a body may have at all levels. */
const messagesMax = 1_000_000
/** Bytes of resources and scopes, counted for each span; and of an attribute besides. */
const [sharedMax, attributeBytes] = [64 * 1024 * 1024, 64]

/** Kinds of messages, by the numbers of the fields that are messages again. */
const kinds = {
  request: { 1: 'resourceSpans' },
  resourceSpans: { 1: 'attributes', 2: 'scopeSpans' },
  /** A resource: its attributes are in its first field. */
  attributes: { 1: 'keyValue' },
  scopeSpans: { 1: 'scope', 2: 'span' },
  scope: { 3: 'keyValue' },
  span: { 9: 'keyValue', 11: 'event', 13: 'link', 15: 'leaf' },
  event: { 3: 'keyValue' },
  link: { 4: 'keyValue' },
  keyValue: { 2: 'anyValue' },
  anyValue: { 5: 'list', 6: 'attributes' },
  list: { 1: 'anyValue' },
  leaf: {},
} as const satisfies Readonly<Record<string, Readonly<Record<number, string>>>>

type Kind = keyof typeof kinds

/** Throws `too_large` if a body has too many messages. One that cannot be read may pass. */
export function requireFewMessages(body: Uint8Array): void {
  const open: { readonly kind: Kind; readonly end: number }[] = [
    { kind: 'request', end: body.length },
  ]
  let [at, count] = [0, 0]
  const number = () => {
    let [value, factor] = [0, 1]
    for (let byte = 128; byte >= 128; factor *= 128) {
      byte = body[at++] ?? 0
      value += (byte & 127) * factor
    }
    return value
  }
  while (open.length > 0) {
    const { kind, end } = open.at(-1)!
    if (at >= end) {
      open.pop()
      continue
    }
    const tag = number()
    const wire = tag % 8
    if (wire === 0) number()
    else if (wire === 1) at += 8
    else if (wire === 5) at += 4
    else if (wire !== 2) return
    if (wire !== 2) continue
    const length = number()
    const inner = (kinds[kind] as Readonly<Record<number, Kind>>)[Math.floor(tag / 8)]
    if (inner === undefined) {
      at += length
      continue
    }
    if (++count > messagesMax) throw tooMany()
    open.push({ kind: inner, end: Math.min(end, at + length) })
  }
}

const [quote, backslash, openList, openObject] = [34, 92, 91, 123]

/** The same for a body in JSON. */
export function requireFewObjects(body: Uint8Array): void {
  const { length } = body
  let [isText, count] = [false, 0]
  for (let at = 0; at < length; at++) {
    const code = body[at]!
    if (isText) {
      if (code === backslash) at++
      else if (code === quote) isText = false
    } else if (code === quote) isText = true
    else if ((code === openObject || code === openList) && ++count > messagesMax) throw tooMany()
  }
}

function tooMany(): HeddleError {
  return new HeddleError('too_large', `One request may have ${messagesMax} messages.`)
}

/** Counts what the spans of a body share, and throws `too_large` when it is too much. */
export class SharedBytes {
  #bytes = 0

  /** A resource, or a scope, with so many attributes and so many bytes has so many spans. */
  add(
    { attributes, bytes, spans }: { readonly attributes: number; readonly bytes: number;
      readonly spans: number },
  ): void {
    this.#bytes += (bytes + attributes * attributeBytes) * spans
    if (this.#bytes <= sharedMax) return
    throw new HeddleError('too_large',
      'A resource or its scopes say too much for so many spans: send fewer in one request.')
  }
}
