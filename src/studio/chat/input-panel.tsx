/** Starts runs of a graph that holds no conversation: a form made from what it takes. */

import { lazy, Suspense, useState } from 'react'

import { cancelRun } from '../api/runs.ts'
import type { JsonObject } from '../api/client.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Questions } from './chat-panel.tsx'
import { Failures } from './failures.tsx'
import css from './input-panel.module.css'
import { LiveLine } from './live-line.tsx'
import { Queue } from './queue.tsx'
import type { Screen } from '../thread/screen/use-screen.ts'

const SchemaForm = lazy(async () => ({
  default: (await import('../forms/schema-form.tsx')).SchemaForm,
}))

/** The panel below the state. */
export function InputPanel({ id, screen }: { readonly id: string; readonly screen: Screen }) {
  const { choice: { schemas }, send, refusal, isBusy, runs, search, go, interrupts } = screen
  const [value, setValue] = useState<unknown>({})
  const [error, setError] = useState<unknown>()
  const running = runs.find(({ status }) => status === 'running')
  const start = () => {
    setError(undefined)
    const { at } = search
    if (at !== undefined) go({ at: undefined })
    send.start({ input: value, checkpoint_id: at }).catch(setError)
  }
  return (
    <section className={css['panel']} aria-label="Run">
      <LiveLine store={screen.following.store} />
      <Failures id={id} screen={screen} />
      <Questions id={id} screen={screen} />
      {error !== undefined && <ErrorNotice error={error} />}
      <Queue runs={runs} refusal={refusal} failed={setError}
        changed={() => void screen.answers.runs.refetch()} />
      {interrupts.length === 0 && (
        <form onSubmit={(event) => {
          event.preventDefault()
          start()
        }}>
          <h3>Input</h3>
          <Suspense>
            <SchemaForm schema={(schemas?.input_schema ?? {}) as JsonObject} value={value}
              change={setValue} />
          </Suspense>
          <footer>
            {isBusy && running !== undefined && (
              <Button icon={<Icon name="stop" />} disabled={refusal !== undefined} onClick={() =>
                void cancelRun(id, running.run_id).catch(setError)}
              >
                Stop
              </Button>
            )}
            <Button type="submit" kind="primary" icon={<Icon name="play" />} title={refusal}
              disabled={refusal !== undefined}
            >
              {isBusy ? 'Run afterwards' : 'Run'}
            </Button>
          </footer>
        </form>
      )}
    </section>
  )
}
