/** Changes of a dataset between two versions, example by example. */

import { useQuery } from '@tanstack/react-query'

import type { Example } from '../../api/index.ts'
import { versionDiffQuery } from '../api/platform/datasets.ts'
import { examplesById } from '../api/platform/examples.ts'
import { counted } from '../parts/amounts.ts'
import { Chip } from '../parts/chip.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './datasets.module.css'

/** Examples of each kind that are shown. */
const shownMax = 20

const kinds = [{ key: 'examples_added', words: 'added', tone: 'done' }, { key: 'examples_modified',
  words: 'changed', tone: 'waiting' }, { key: 'examples_removed', words: 'removed',
  tone: 'failed' }] as const

/** Examples that were added, changed or removed between two versions; 20 of each kind at most. */
export function VersionChanges({ datasetId, from, to }: {
  readonly datasetId: string
  readonly from: string
  readonly to: string
}) {
  const diff = useQuery(versionDiffQuery(datasetId, from, to))
  const ids = diff.data === undefined
    ? []
    : kinds.flatMap(({ key }) => diff.data[key].slice(0, shownMax))
  const examples = useQuery({
    queryKey: ['datasets', datasetId, 'changed', from, to, ids],
    queryFn: async ({ signal }) => {
      const [before, after] = await Promise.all(
        [from, to].map((asOf) => examplesById(datasetId, ids, asOf, signal)),
      )
      return { before: byId(before!), after: byId(after!) }
    },
    enabled: ids.length > 0,
  })
  const wrong = diff.isError ? diff : examples.isError ? examples : undefined
  if (wrong !== undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={wrong.error} retry={() => void wrong.refetch()} />
      </div>
    )
  }
  if (diff.data === undefined) {
    return (
      <div className={css['notice']} aria-busy="true">
        <Skeleton width="50%" height={14} />
      </div>
    )
  }
  const { data: changes } = diff
  return (
    <div className={css['changes']} role="region" aria-label="Changes" tabIndex={0}>
      <p role="status">
        {kinds.map(({ key, words }) => `${counted(changes[key].length, 'example')} ${words}`)
          .join(', ')}.
      </p>
      {kinds.flatMap(({ key, words, tone }) =>
        changes[key].slice(0, shownMax).map((id) => (
          <section key={id} aria-label={`Example ${words}`}>
            <h2>
              <Chip tone={tone}>{words}</Chip>
              <code>{id.slice(0, 8)}</code>
            </h2>
            <div className={css['pair']}>
              <Side example={examples.data?.before.get(id)} name="before" />
              <Side example={examples.data?.after.get(id)} name="after" />
            </div>
          </section>
        ))
      )}
    </div>
  )
}

const byId = (examples: readonly Example[]) =>
  new Map(examples.map((example) => [example.id, example]))

function Side({ example, name }: {
  readonly example: Example | undefined
  readonly name: string
}) {
  if (example === undefined) return <span className={css['quiet']}>Not there</span>
  const { inputs, outputs, metadata } = example
  return <JsonTree value={{ inputs, outputs, metadata }} name={name} open={3} height={12} />
}
