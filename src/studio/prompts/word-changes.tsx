/** Changes of a version of a prompt, word by word. */

import { diffWordsWithSpace } from 'diff'

import { messagesOf } from './manifest.ts'
import css from './prompts.module.css'

/** The changes from one manifest to another. */
export function WordChanges({ before, after }: {
  readonly before: unknown
  readonly after: unknown
}) {
  const [old, now] = textsOf(before, after)
  return (
    <pre className={css['words']} aria-label="Changes" role="region" tabIndex={0} dir="auto">
      {old === now ? 'Both say the same.' : diffWordsWithSpace(old, now)
        .map(({ value, added, removed }, at) =>
          added
            ? <ins key={at}>{value}</ins>
            : removed
            ? <del key={at}>{value}</del>
            : <span key={at}>{value}</span>
        )}
    </pre>
  )
}

/** Words of messages; the whole manifests if more than these differs, or if one has others. */
function textsOf(before: unknown, after: unknown): readonly [string, string] {
  const words = [before, after].map((manifest) =>
    messagesOf(manifest)?.map(({ role, content }) => `${role}:\n${content}`).join('\n\n')
  )
  const [old, now] = words
  return old === undefined || now === undefined || old === now
    ? [JSON.stringify(before, null, 2), JSON.stringify(after, null, 2)]
    : [old, now]
}
