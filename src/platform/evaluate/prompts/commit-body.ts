/**
 * Reads the bodies of commits. It runs in a thread: a manifest is checked, hashed, and never parsed
 * as a whole, for it is given back as it came.
 */

import { HeddleError } from '../../../errors.ts'
import { memberAt, NotJson, stringAt, visitMembers } from '../../../json/index.ts'
import type { MemberPlace } from '../../../json/index.ts'
import { withoutLogins } from '../models/endpoint.ts'
import { digestOf } from './prompt-names.ts'
import type { CommitBody } from './prompt.ts'

/** Bytes of a manifest at most. */
export const manifestBytesMax = 1024 * 1024

/** The commit of a body. Throws `malformed`, `invalid`, `too_large`. */
export function readCommitBody(body: Uint8Array): CommitBody {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const { manifest: place, ...more } = headerOf(bytes, 'manifest')
  if (place === undefined || textAt(bytes, place) === 'null') {
    throw new HeddleError('invalid', 'manifest: a commit needs one, in JSON.')
  }
  const manifest = bytes.subarray(place.from, place.to)
  if (manifest.byteLength > manifestBytesMax) {
    throw new HeddleError('too_large', `A manifest may have ${manifestBytesMax} bytes.`)
  }
  const prompt = promptPlace(manifest)
  if (prompt !== null) requireNoLogin(manifest, prompt)
  return { ...more, manifest: Uint8Array.from(manifest), digest: digestOf(manifest), prompt }
}

/** A user or a password in an address would be kept, and shown to whoever reads the prompt. */
function requireNoLogin(manifest: Buffer, [from, to]: readonly [number, number]): void {
  const login = /"(?:https?|wss?|ftp):(?:\\?\/|\\\\)*[^"\\/?#]*@/i
  const model = [manifest.toString('latin1', 0, from), manifest.toString('latin1', to)]
  if (!model.some((part) => login.test(withoutEscapes(part)))) return
  throw new HeddleError('invalid', 'manifest: the address of its model has a user or a password: ' +
    'keep the key as a secret of the workspace.')
}

/** JSON may write any letter by its number, `@` as well. */
function withoutEscapes(json: string): string {
  return json.replace(/\\u00([0-7][\da-f])/gi,
    (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** A manifest as it is shown: one that was kept before logins were refused may have some. */
export function shownManifest(manifest: Uint8Array, prompt: CommitBody['prompt']): Uint8Array {
  if (prompt === null) return manifest
  const bytes = Buffer.from(manifest.buffer, manifest.byteOffset, manifest.byteLength)
  const [from, to] = prompt
  const shown = (part: Buffer) =>
    Buffer.from(
      part.toString().replaceAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs,
        (text) => /@|\\u/.test(text) ? shownText(text) : text),
    )
  return Buffer.concat([shown(bytes.subarray(0, from)), bytes.subarray(from, to),
    shown(bytes.subarray(to))])
}

/** A text of JSON without a login: itself, byte by byte, if it has none. */
function shownText(json: string): string {
  const text = JSON.parse(json) as string
  const clean = withoutLogins(text)
  return clean === text ? json : JSON.stringify(clean)
}

/** Place of the content in the body of a commit, its parent and its description. */
export function headerOf(bytes: Buffer, content: string): Pick<CommitBody,
  | 'parent'
  | 'description'> & { readonly manifest: MemberPlace | undefined } {
  const found: Record<string, MemberPlace> = {}
  try {
    visitMembers(bytes, (member) => {
      if ([content, 'parent_commit', 'description'].includes(member.name)) {
        found[member.name] = member
      }
    })
  } catch (error) {
    if (error instanceof NotJson) throw new HeddleError('malformed')
    throw error
  }
  return { manifest: found[content], parent: parentIn(bytes, found['parent_commit']),
    description: textIn(bytes, found['description'], 'description', 4_000) }
}

function parentIn(bytes: Buffer, place: MemberPlace | undefined): string | null {
  const parent = textIn(bytes, place, 'parent_commit', 64)
  if (parent === null || parent === '' || parent === 'latest') return null
  if (/^[0-9a-fA-F]{8,64}$/.test(parent)) return parent.toLowerCase()
  throw new HeddleError('invalid',
    'parent_commit: the first 8 to 64 digits of the hash of a commit.')
}

function textIn(bytes: Buffer, place: MemberPlace | undefined, name: string, max: number):
  | string
  | null {
  if (place === undefined || textAt(bytes, place) === 'null') return null
  const text = bytes[place.from] === 34 ? stringAt(bytes, place.from, place.to) : undefined
  if (text !== undefined && text.length <= max) return text
  throw new HeddleError('invalid', `${name}: it is a text of ${max} characters at most.`)
}

function textAt(bytes: Buffer, { from, to }: MemberPlace): string {
  return to - from > 4 ? '' : bytes.toString('latin1', from, to)
}

/** Byte range of the prompt in a sequence of a prompt and a model; null for others. */
function promptPlace(manifest: Buffer): CommitBody['prompt'] {
  const id = memberAt(manifest, 0, 'id')
  const kwargs = memberAt(manifest, 0, 'kwargs')
  if (id === undefined || kwargs === undefined) return null
  if (!/"RunnableSequence"\s*\]$/.test(manifest.toString('utf8', id.from, id.to))) return null
  const first = memberAt(manifest, kwargs.from, 'first')
  return first === undefined ? null : [first.from, first.to]
}
