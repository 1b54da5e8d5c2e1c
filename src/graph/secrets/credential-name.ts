/** Names whose values are credentials: of members of JSON, fields, parameters and headers. Pure. */

/** Last words of a name with a credential. Also matches the words of `camelCase` names. */
export const credentialWords = [
  'token',
  'secret',
  'passw(?:or)?d',
  'passphrase',
  'passcode',
  'pwd',
  'credentials?',
  'authorization',
  'cookie',
  'assertion',
  'jwt',
  'jsessionid|phpsessid|sessid',
  '(?:api|access|private|secret|signing|encryption|subscription|account|shared|functions|auth)'
  + '[_-]?key',
  'code[_-]?verifier',
  '(?:device[_-]?|auth(?:orization)?[_-]?)?code',
].join('|')

/** Words before `token` with which it is a position in a list or a part of a text. */
const positions: ReadonlySet<string> = new Set(['page', 'next', 'prev', 'previous', 'continuation',
  'continue', 'sync', 'max', 'min', 'cursor', 'delta', 'resume', 'skip', 'eos', 'bos', 'pad', 'unk',
  'sep', 'cls', 'mask', 'stop', 'start', 'end', 'prompt', 'completion', 'total', 'image', 'audio',
  'special', 'first', 'last', 'per'])

/**
 * certain  any value is a credential
 * likely   a value that looks like one is: parts of texts are called `token` as well
 * oauth    a value in a request for a token is
 */
export type NameKind = 'certain' | 'likely' | 'oauth'

/** Returns the kind of a name that ends with a credential word; undefined for no credential. */
export function kindOfName(name: string): NameKind | undefined {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase().split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  const all = words.join('')
  if (/^(?:code|assertion)$/.test(all)) return 'oauth'
  if (all.endsWith('code'))
    return /(?:device|auth|authorization)code$/.test(all)
      ? 'certain'
      : undefined
  if (!all.endsWith('token')) return 'certain'
  if (all === 'token') return 'likely'
  const before = words.at(-1) === 'token' ? words.at(-2)! : words.at(-1)!.slice(0, -'token'.length)
  return positions.has(before) ? undefined : 'certain'
}
