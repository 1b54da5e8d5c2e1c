/** Answer of a model, and the actions on it. */

import { AddToDatasetButton } from '../datasets/add-to-dataset-button.tsx'
import { count, duration } from '../parts/amounts.ts'
import { buttonClass } from '../parts/button.tsx'
import { Notice } from '../parts/notice.tsx'
import { TraceLink } from '../parts/trace-link.tsx'
import type { ShownAnswer } from './model-answer.ts'
import css from './playground.module.css'

/** The words, as they come in. */
export function AnswerText({ label, answer }: {
  readonly label: string
  readonly answer: ShownAnswer
}) {
  const { state, text, error, toolCalls, tokens, latencyMs, runId, variables } = answer
  return (
    <>
      {text !== '' && (
        <div className={css['words']} dir="auto" role="region" tabIndex={0}
          aria-label={`Answer of ${label}`}
        >
          {text}
        </div>
      )}
      {toolCalls.length > 0 && (
        <ul className={css['calls']} aria-label={`Tools that ${label} wants called`}>
          {toolCalls.map(({ name, args }, at) => (
            <li key={at}>
              <b dir="auto">{name}</b>
              <code dir="auto">{JSON.stringify(args, null, 2)}</code>
            </li>
          ))}
        </ul>
      )}
      {state === 'done' && text === '' && toolCalls.length === 0 && (
        <p className={css['meta']}>The answer is empty.</p>
      )}
      {error !== null && (
        <Notice tone="failed">
          <p>{error}</p>
        </Notice>
      )}
      <p className={css['meta']} role="status">
        {state === 'running' ? 'Answering …' : state === 'stopped' ? 'Stopped' : null}
        {latencyMs !== null && duration(latencyMs)}
        {tokens !== null && ` · ${count(tokens)} tokens`}
      </p>
      {state !== 'running' && runId !== null && (
        <div className={css['bar']}>
          {state === 'done' && (
            // An example has the variables: a prompt is asked about each of a dataset.
            <AddToDatasetButton spanId={runId} traceId={runId}
              {...Object.keys(variables).length > 0 &&
                { example: { inputs: variables, outputs: { output: text } } }} />
          )}
          <TraceLink runId={runId} className={buttonClass('quiet', true)} />
        </div>
      )}
    </>
  )
}
