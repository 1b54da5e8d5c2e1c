/** Patterns of the HTTP calls that are effects: `POST https://api.example.org/v1/**`. Pure. */

/** Tells whether a call fits. */
export type CallPattern = (call: { readonly method: string; readonly url: string }) => boolean

const form = /^(?:[A-Z]+|\*) https?:\/\/(?<host>[^/?#*\s][^/?#\s]*)(?<path>\/[^?#\s]*)$/

/** True for a method, or `*`, and the URL of one host with a path, in which `*` may stand. */
export function isCallPattern(text: string): boolean {
  const { host = '', path = '' } = form.exec(text)?.groups ?? {}
  const parts = path.split('/')
  const isWhole = parts.every((part, at) =>
    !part.includes('*') || part === '*' || (part === '**' && at === parts.length - 1)
  )
  return host !== '' && path !== '' && !host.includes('*') && isWhole && text.length <= 500
}

/** The pattern in the form that URLs of calls have; others match nothing. */
export function calledForm(pattern: string): string {
  const [method, address] = pattern.split(' ') as [string, string]
  return `${method} ${URL.canParse(address) ? new URL(address).href : address}`
}

/** True if each call that fits the second pattern fits the first one as well. */
export function coversPattern(first: string, second: string): boolean {
  const [method, address] = first.split(' ') as [string, string]
  const [otherMethod, otherAddress] = second.split(' ') as [string, string]
  if (method !== '*' && method !== otherMethod) return false
  const parts = address.split('/')
  const others = otherAddress.split('/')
  const rest = parts.indexOf('**')
  const count = rest < 0 ? parts.length : rest
  if (rest < 0 ? others.length !== count : others.length < count) return false
  return parts.slice(0, count)
    .every((part, at) => part === others[at] || (part === '*' && others[at] !== '**'))
}

/** The pattern: `*` is one part of a path, `**` at its end any rest. A query does not count. */
export function callPattern(text: string): CallPattern {
  const [method, address] = text.split(' ') as [string, string]
  const parts = address.split('/')
  return (call) =>
    (method === '*' || method === call.method)
    && partsFit(parts, call.url.split(/[?#]/)[0]!.split('/'))
}

/** True if the parts of an address fit; after a part with `**`, any rest does. */
function partsFit(parts: readonly string[], given: readonly string[]): boolean {
  const rest = parts.findIndex((part) => part === '**')
  const count = rest < 0 ? parts.length : rest
  if (rest < 0 ? given.length !== count : given.length < count) return false
  return parts.slice(0, count).every((part, at) => part === '*' || part === given[at])
}
