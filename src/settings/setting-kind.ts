/** Kinds of settings: what the text of a setting means, or what is wrong with it. Pure. */

import { ipAddress, ipRange, isLoopback } from './ip-address.ts'
import type { IpRange } from './ip-address.ts'

/**
 * The value of a text; undefined if the text names nothing. Or its faults: each is the end of a
 * sentence that begins with the name of the setting.
 */
export type Reading<Value> = { readonly value: Value | undefined } | {
  readonly faults: readonly string[]
}

/** Reader of the text of a setting. */
export interface Kind<Value> {
  /** All words that it may be, if these are few. */
  readonly choices?: readonly string[]
  read(text: string): Reading<Value>
}

/** Ids of users of the operating system, from the first to the last. */
export interface UserRange {
  readonly first: number
  readonly last: number
}

/** A text of any kind. */
export const anyText: Kind<string> = { read: (text) => ({ value: text }) }

/** The name of a tenant, as keys and tokens have it. */
export const tenantName: Kind<string> = one(
  'must be 1 to 64 letters, digits, "_", "." and "-", and begin with a letter or a digit',
  (text) => /^[A-Za-z0-9][\w.-]{0,63}$/.test(text) ? text : undefined,
)

/** A path; relative ones start from the folder where the server was started. */
export const path: Kind<string> = anyText

/** A whole number within bounds, which are included. */
export function wholeNumber(min: number, max: number): Kind<number> {
  return one(`must be a whole number from ${min} to ${max}`, (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : NaN
    return number >= min && number <= max ? number : undefined
  })
}

/** As many users as a member may have deployments, and more than any has. */
const usersMax = 10_000
/** The largest id that all file systems and tools take. */
const userMax = 2_147_483_646

/** A range of ids of users without root, or `off`. */
export const userRange: Kind<UserRange | 'off'> = one(
  `must be a range of at most ${usersMax} ids above 0 like 70000-70099, or off`,
  (text) => {
    if (text === 'off') return 'off'
    const [, first, last] = (/^(\d{1,10})-(\d{1,10})$/.exec(text) ?? []).map(Number)
    if (first === undefined || last === undefined) return undefined
    const isGood = first > 0 && first <= last && last <= userMax && last - first < usersMax
    return isGood ? { first, last } : undefined
  },
)

/** A share from none (0) to all (1). */
export const share: Kind<number> = one('must be a number from 0 to 1', (text) => {
  return /^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : undefined
})

/** A share of runs, as langgraph.json has it: `off`, `all` or `10%`. */
export const runShare: Kind<string> = one('must be off, all or a share of runs like 10%',
  (text) => isRunShare(text) ? text : undefined)

/** True for `off`, `all` and shares of runs like `10%`. */
export function isRunShare(text: string): boolean {
  return /^(?:off|all|(?:100|\d{1,2}(?:\.\d{1,4})?)%)$/.test(text)
}

/** A switch: yes or no, in any of the usual words. */
export const yesOrNo: Kind<boolean> = {
  read(text) {
    const word = text.toLowerCase()
    if (/^(yes|true|1|on)$/.test(word)) return { value: true }
    if (/^(no|false|0|off)$/.test(word)) return { value: false }
    return { faults: [`must be yes or no, not "${word}"`] }
  },
}

/** One of a few words. */
export function oneOf<const Word extends string>(choices: readonly Word[]): Kind<Word> {
  const { read } = one(`must be one of ${choices.join(', ')}`,
    (text) => choices.find((word) => word === text))
  return { choices, read }
}

/** `on`, `off`, or an http(s) URL. */
export const onOffOrAddress: Kind<string> = {
  read: (text) => {
    if (text === 'on' || text === 'off') return { value: text }
    const address = webAddress.read(text)
    return 'faults' in address
      ? { faults: [faultOf('must be on, off or an http(s) URL', text)] }
      : address
  },
}

/** Some of the words, in the order of `known`. */
export function someOf<Word extends string>(known: readonly Word[]): Kind<readonly Word[]> {
  const words = listOf(`must be some of ${known.join(', ')}`,
    (text) => known.find((word) => word === text))
  return converted(words, (named) => known.filter((word) => named.includes(word)))
}

/** List of texts, separated by commas. */
export const texts: Kind<readonly string[]> = listOf('', (text) => text)

/** IP addresses and ranges of them. */
export const ranges: Kind<readonly IpRange[]> = listOf(
  'must list addresses or ranges like 10.0.0.0/8',
  ipRange,
)

/** Names of variables; `*` at the end stands for any rest. */
export const variables: Kind<readonly string[]> = listOf(
  'must list names of variables like A_KEY or A_*',
  matching((text) => /^\w*\*?$/.test(text)),
)

/** Addresses, ranges and hosts that a call may go to. */
export const targets: Kind<readonly string[]> = listOf(
  'must be addresses, ranges like 10.1.0.0/16 and names of hosts',
  matching((text) => ipRange(text) !== undefined || /^[a-z\d-]+(\.[a-z\d-]+)*$/i.test(text)),
)

/** Origins of web pages; `*` stands for any. */
export const origins: Kind<readonly string[]> = listOf(
  'must be an origin like https://example.org',
  matching((text) => text === '*' || (URL.canParse(text) && new URL(text).origin === text)),
)

/** Origins of programs on this machine; `off` for none. */
export const localOrigins: Kind<readonly string[]> = converted(
  listOf('must be off, or list origins of this machine like http://127.0.0.1:11434',
    matching((text) => text === 'off' || isLocalOrigin(text))),
  (named) => named.filter((text) => text !== 'off'),
)

function isLocalOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text &&
    isLoopback(url.hostname)
}

/** Names of hosts; `*` stands for any. */
export const hosts: Kind<readonly string[]> = listOf(
  'must be a name like heddle.internal, without a port',
  matching((text) =>
    text === '*' || ipAddress(text) !== undefined || /^[\w-]+(\.[\w-]+)*$/.test(text)
  ),
)

/** Names of hosts; `*.example.org` stands for all names below one. */
export const hostPatterns: Kind<readonly string[]> = listOf(
  'must be a name like shop.example.org, or like *.example.org for all below one',
  matching((text) => /^(\*\.)?[a-z\d-]+(\.[a-z\d-]+)+$/.test(text)),
)

/** A domain, which names of hosts end with. */
export const domain: Kind<string> = one(
  'must be a domain in small letters like agents.example.org, without a port',
  matching((text) => /^[a-z\d-]+(\.[a-z\d-]+)*$/.test(text)),
)

/** An http(s) URL. A fault does not repeat it, because it may contain a password. */
export const webAddress: Kind<string> = {
  read: (text) =>
    /^https?:$/.test(URL.parse(text)?.protocol ?? '')
      ? { value: text }
      : { faults: ['must be an http(s) URL'] },
}

/** A URL for each of some names: `us=https://…,eu=https://…`; empty for a name without one. */
export function urlsOf<Name extends string>(
  known: readonly Name[],
): Kind<Readonly<Record<Name, string>>> {
  const pairs = listOf(`must be like ${known[0]}=https://example.org`, (text) => {
    const [, word, url = ''] = /^(\w+)=(https?:\/\/.+)$/.exec(text) ?? []
    const name = known.find((each) => each === word)
    return name !== undefined && URL.canParse(url) ? [name, url] as const : undefined
  })
  const none = known.map((name) => [name, ''] as const)
  return converted(pairs,
    (named) => Object.fromEntries([...none, ...named]) as Record<Name, string>)
}

/** Tenants by other names of theirs: `acme=tenant`, or `acme` for the one without keys. */
export const handles: Kind<ReadonlyMap<string, string>> = converted(
  listOf('must be like acme or acme=tenant', (text) => {
    const [, handle, tenant = 'local'] = /^([a-z][a-z\d-]{0,49})(?:=([\w.-]+))?$/.exec(text) ?? []
    return handle === undefined ? undefined : [handle, tenant] as const
  }),
  (named) => new Map(named),
)

/** A text that `read` understands; `rule` says which texts these are. */
function one<Value>(rule: string, read: (text: string) => Value | undefined): Kind<Value> {
  return {
    read(text) {
      const value = read(text)
      return value === undefined ? { faults: [faultOf(rule, text)] } : { value }
    },
  }
}

/** Texts separated by commas that `read` understands each. */
function listOf<Item>(rule: string,
  read: (text: string) => Item | undefined): Kind<readonly Item[]> {
  return {
    read(text) {
      const named = text.split(',').map((each) => each.trim()).filter((each) => each !== '')
      const faults = named.filter((each) => read(each) === undefined)
      if (faults.length > 0) return { faults: faults.map((each) => faultOf(rule, each)) }
      return { value: named.length > 0 ? named.map((each) => read(each)!) : undefined }
    },
  }
}

function converted<From, To>(kind: Kind<From>, convert: (value: From) => To): Kind<To> {
  return {
    read(text) {
      const reading = kind.read(text)
      if ('faults' in reading) return reading
      return { value: reading.value === undefined ? undefined : convert(reading.value) }
    },
  }
}

function matching(isGood: (text: string) => boolean): (text: string) => string | undefined {
  return (text) => isGood(text) ? text : undefined
}

function faultOf(rule: string, text: string): string {
  return `${rule}, not "${text}"`
}
