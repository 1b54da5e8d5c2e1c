/** What the chosen node of the graph did: its steps, and what it wrote in the last of them. */

import { useQuery } from '@tanstack/react-query'

import { stateAt } from '../api/states.ts'
import type { ThreadState } from '../api/states.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { StatusChip } from '../parts/status.tsx'
import css from './node-panel.module.css'
import type { Screen } from './use-screen.ts'

/** The panel. */
export function NodePanel({ node, screen, close }: {
  readonly node: string
  readonly screen: Screen
  readonly close: () => void
}) {
  const { steps, search, headId, nodes, go, answers: { thread } } = screen
  const state = nodes[node]
  const found = lastStepOf(node, steps, search.at ?? headId)
  const id = found?.checkpoint_id ?? undefined
  const written = useQuery({
    queryKey: ['written', thread.data?.thread_id, id],
    enabled: id !== undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { metadata } = await stateAt(thread.data!.thread_id, id, ['metadata.writes'], signal)
      return (Object(metadata?.['writes']) as Record<string, unknown>)[node] ?? null
    },
  })
  return (
    <section className={css['panel']} aria-label={`Node ${node}`}>
      <header>
        <h3>{node.replaceAll(':', ' › ')}</h3>
        {state !== undefined && <StatusChip status={state.state} />}
        <Button kind="quiet" small icon={<Icon name="close" />} label="Close" onClick={close} />
      </header>
      {id === undefined
        ? <p>{wordsFor(node, state?.state)}</p>
        : (
          <>
            <p>
              Step {found?.metadata?.step} is what it made last.{' '}
              {search.at !== id && (
                <Button small onClick={() => go({ at: id, vs: undefined }, true)}>
                  Show the step
                </Button>
              )}
            </p>
            {written.isError && (
              <ErrorNotice error={written.error} retry={() => void written.refetch()} />
            )}
            {written.data !== undefined && <JsonTree value={written.data} name="What it wrote" />}
          </>
        )}
    </section>
  )
}

function wordsFor(node: string, state: string | undefined): string {
  if (state === 'running') return 'It runs now. What it writes is shown when it has ended.'
  return node.includes(':')
    ? 'Nodes of a subgraph leave no step of their own in this thread.'
    : 'It made none of the steps that were read.'
}

/** The newest step on the line to `from` that the node made. */
function lastStepOf(node: string, steps: readonly ThreadState[], from: string | undefined):
  | ThreadState
  | undefined {
  const known = new Map(steps.map((step) => [step.checkpoint_id, step]))
  for (let step = known.get(from); step !== undefined;) {
    const parent = known.get(step.parent_checkpoint_id)
    if (step.metadata?.source === 'loop' && parent?.tasks?.some(({ name }) => name === node)) {
      return step
    }
    step = parent
  }
  return undefined
}
