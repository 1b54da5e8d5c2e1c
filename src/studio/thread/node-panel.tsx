/** Panel of the chosen node of the graph: its steps, and its writes in the last of them. */

import { useQuery } from '@tanstack/react-query'

import { stateAt } from '../api/states.ts'
import { FailureActs, useFailures } from '../chat/failures.tsx'
import type { RunSettings } from './screen/settings-body.ts'
import { Button } from '../parts/button.tsx'
import { FailureCard } from '../failures/failure-card.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { StatusChip } from '../parts/status.tsx'
import { NodeInput } from './node-input.tsx'
import css from './node-panel.module.css'
import { isCalled, placeOf } from './node-steps.ts'
import type { Screen } from './screen/use-screen.ts'

/** Panel of a node: its error, its state, its breakpoints, its last write and its input. */
export function NodePanel({ node, screen, close }: {
  readonly node: string
  readonly screen: Screen
  readonly close: () => void
}) {
  const { steps, search, headId, nodes, go, answers: { thread }, settings, setSettings } = screen
  const state = nodes[node]
  const place = placeOf(node, steps, search.at ?? headId)
  const id = place?.made?.checkpoint_id ?? undefined
  const threadId = thread.data!.thread_id
  const failures = useFailures(screen).filter((each) => each.node === node)
  const written = useQuery({
    queryKey: ['written', threadId, id],
    enabled: id !== undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { metadata } = await stateAt(threadId, id, ['metadata.writes'], signal)
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
      {failures.map((failure) => (
        <FailureCard key={failure.message.slice(0, 80)} failure={failure}>
          <FailureActs id={threadId} screen={screen} />
        </FailureCard>
      ))}
      {!node.includes(':') && <NodePauses node={node} settings={settings} change={setSettings} />}
      {id === undefined
        ? failures.length === 0 && <p>{wordsFor(node, state?.state)}</p>
        : (
          <>
            <p>
              Step {place?.made?.metadata?.step} is what it made last.{' '}
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
      {place?.read.checkpoint_id != null && (
        <NodeInput key={place.read.checkpoint_id} threadId={threadId}
          checkpointId={place.read.checkpoint_id} isCalled={isCalled(place, node)} />
      )}
    </section>
  )
}

/** Breakpoints of the node: they hold for what is sent from this page. */
function NodePauses({ node, settings, change }: {
  readonly node: string
  readonly settings: RunSettings
  readonly change: (settings: RunSettings) => void
}) {
  const places = [['interruptBefore', 'Pause before'], ['interruptAfter', 'Pause after']] as const
  return (
    <div className={css['pauses']} role="group" aria-label="Breakpoints">
      {places.map(([place, words]) => (
        <label key={place}>
          <input type="checkbox" checked={settings[place].includes(node)}
            onChange={({ target }) => {
              const others = settings[place].filter((each) => each !== node)
              change({ ...settings, [place]: target.checked ? [...others, node] : others })
            }} />
          {words}
        </label>
      ))}
    </div>
  )
}

function wordsFor(node: string, state: string | undefined): string {
  if (state === 'running') return 'It runs now. What it writes is shown when it has ended.'
  return node.includes(':')
    ? 'Nodes of a subgraph leave no step of their own in this thread.'
    : 'It made none of the steps that were read.'
}
