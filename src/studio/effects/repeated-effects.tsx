/** Warns of effects that happen again when a thread goes on from a step of its past. */

import { useQuery } from '@tanstack/react-query'

import { repeatedFrom } from './effect-calls.ts'
import css from './effects.module.css'

/** Sentence that names them; nothing if there are none. `at`: the checkpoint to go on from. */
export function RepeatedEffects({ threadId, at }: {
  readonly threadId: string
  readonly at: string
}) {
  const { data = [] } = useQuery({ queryKey: ['threads', threadId, 'repeated', at],
    queryFn: ({ signal }) => repeatedFrom(threadId, at, signal) })
  return <AgainWarning names={data} />
}

/** Sentence that names effects that are done again; nothing if there are none. */
export function AgainWarning({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <p className={css['warning']} role="status">
      <span>
        This will do {names.map((name, i) => (
          <span key={name}>
            {i === 0 ? '' : i === names.length - 1 ? ' and ' : ', '}
            <b dir="auto">{name}</b>
          </span>
        ))} again.
      </span>
    </p>
  )
}
