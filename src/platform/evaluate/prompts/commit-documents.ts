/**
 * The documents of commits. `m/<id>` is a manifest: each attempt to commit has one of its own, and
 * may remove it when it fails. `h/<hash>` and `n/<number>` say what a commit is: they are written
 * only for one that was the newest in the record of its prompt, so what they name is part of the
 * history. The newest one is in the record itself.
 */

import { HeddleError } from '../../../errors.ts'
import type { Document, DocumentPlace, DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { commitId, prefixOfId } from './prompt-names.ts'
import type { Commit, Prompt } from './prompt.ts'

/** Reads and writes the documents of commits. All methods throw HeddleError. */
export interface CommitDocuments {
  /** Keeps a manifest, and what the newest commit is, which it may replace. */
  put(prompt: Prompt, document: Uuid, manifest: Uint8Array): Promise<void>
  /** Removes a manifest that became no commit. */
  removeManifest(prompt: Prompt, document: Uuid): Promise<void>
  manifest(prompt: Prompt, commit: Commit): Promise<Uint8Array>
  /** The commit with this whole hash. */
  byHash(prompt: Prompt, hash: string): Promise<Commit | undefined>
  /** The one whose hash begins so. Throws `invalid` if there are several. */
  byPrefix(prompt: Prompt, prefix: string): Promise<Commit | undefined>
  byId(prompt: Prompt, id: string): Promise<Commit | undefined>
  /** The newest first. */
  list(prompt: Prompt,
    page: { readonly limit: number; readonly offset: number }): Promise<readonly Commit[]>
  drop(prompt: Prompt): Promise<void>
}

/** Commits that may share the beginning of an id. */
const sameBeginning = 20

/** The documents of all prompts. */
export function commitDocuments(documents: DocumentPort): CommitDocuments {
  const beginning = async (prompt: Prompt, prefix: string, limit: number) => {
    const found = await documents.listDocuments(placeOf(prompt), { limit,
      after: `h/${prefix.slice(0, -1)}${before(prefix.at(-1)!)}~`, before: `h/${prefix}~` })
    const { head } = prompt
    const commits = found.map(commitIn).filter(({ hash }) => hash !== head?.hash)
    return head?.hash.startsWith(prefix) ? [head, ...commits] : commits
  }
  return {
    put: async (prompt, document, manifest) => {
      const { head } = prompt
      const said = head === null ? [] : [`h/${head.hash}`, numberKey(head.number)]
      const body = Buffer.from(JSON.stringify(head))
      await documents.putDocuments(placeOf(prompt), [{ key: `m/${document}`, body: manifest },
        ...said.map((key) => ({ key, body }))])
    },
    removeManifest: (prompt, document) =>
      documents.deleteDocuments(placeOf(prompt), [`m/${document}`]),
    manifest: async (prompt, { document }) => {
      const [found] = await documents.getDocuments(placeOf(prompt), [`m/${document}`])
      if (found !== undefined) return found.body
      // It was deleted after it was found.
      throw new HeddleError('not_found', 'There is no such commit.')
    },
    byHash: async (prompt, hash) => {
      if (prompt.head?.hash === hash) return prompt.head
      const [found] = await documents.getDocuments(placeOf(prompt), [`h/${hash}`])
      return found && commitIn(found)
    },
    byPrefix: async (prompt, prefix) => {
      const [found, another] = await beginning(prompt, prefix, 3)
      if (another === undefined) return found
      throw new HeddleError('invalid',
        `Several commits begin with ${prefix}: name more of the hash.`)
    },
    byId: async (prompt, id) => {
      const prefix = prefixOfId(id)
      const found = prefix === undefined ? [] : await beginning(prompt, prefix, sameBeginning)
      return found.find(({ hash }) => commitId(hash) === id.toLowerCase())
    },
    list: async (prompt, { limit, offset }) => {
      const { head } = prompt
      const newest = (head?.number ?? 0) - offset
      if (head === null || newest < 1 || limit < 1) return []
      const first = offset === 0 ? [head] : []
      const before = numberKey(Math.min(newest + 1, head.number))
      const rest = limit - first.length === 0
        ? []
        : await documents.listDocuments(placeOf(prompt), {
          before,
          after: 'n/',
          reverse: true,
          limit: limit - first.length,
        })
      return [...first, ...rest.map(commitIn)]
    },
    drop: (prompt) => documents.dropDocuments(placeOf(prompt)),
  }
}

function placeOf({ tenant, id }: Prompt): DocumentPlace {
  return { tenant, kind: 'commit', owner: id }
}

function numberKey(number: number): string {
  return `n/${String(number).padStart(10, '0')}`
}

/** The character before a hex digit, so that keys after it begin with the digit. */
function before(digit: string): string {
  return String.fromCharCode(digit.charCodeAt(0) - 1)
}

function commitIn({ body }: Document): Commit {
  return JSON.parse(Buffer.from(body).toString()) as Commit
}
