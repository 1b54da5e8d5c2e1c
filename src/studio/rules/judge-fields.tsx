/** The judge of a rule, and what it would say of the newest run. */

import { useMutation, useQuery } from '@tanstack/react-query'

import type { RuleEvaluator } from '../../api/index.ts'
import { assistantList } from '../api/assistants.ts'
import { newestRun, tryJudge } from './rule-calls.ts'
import { Button } from '../parts/button.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { FormPart } from './form-part.tsx'
import { judgeOf } from './rule-draft.ts'
import type { DraftProps, JudgeKind } from './rule-draft.ts'
import css from './rules.module.css'

const kinds: readonly (readonly [JudgeKind, string])[] = [
  ['none', 'None'],
  ['graph', 'A graph of this server'],
  ['prompt', 'A prompt for a model'],
  ['hub', 'A prompt of the hub'],
]

interface JudgeProps extends DraftProps {
  /** The judge as it is kept, with what the fields do not show; undefined if there is none. */
  readonly before: RuleEvaluator | undefined
}

/** Fields of the evaluator of a rule. */
export function JudgeFields({ draft, set, before }: JudgeProps) {
  return (
    <FormPart title="Evaluator">
      <Field label="Evaluator">
        {(ids) => (
          <select {...ids} value={draft.judge}
            onChange={({ target }) => set({ judge: target.value as JudgeKind })}
          >
            {kinds.map(([kind, words]) => <option key={kind} value={kind}>{words}</option>)}
          </select>
        )}
      </Field>
      {draft.judge === 'graph' && <GraphFields draft={draft} set={set} />}
      {draft.judge === 'prompt' && <PromptFields draft={draft} set={set} />}
      {draft.judge === 'hub' && (
        <Field label="Prompt of the hub" required hint="name, or name:tag">
          {(ids) => (
            <input {...ids} value={draft.hub} required autoComplete="off" onChange={({ target }) =>
              set({ hub: target.value })} />
          )}
        </Field>
      )}
      {(draft.judge === 'prompt' || draft.judge === 'hub') && (
        <ModelFields draft={draft} set={set} />
      )}
      {draft.judge !== 'none' && (
        <>
          <Field label="Calls a day at most" hint="Without a number there is no bound.">
            {(ids) => (
              <input {...ids} type="number" min={0} value={draft.calls} onChange={({ target }) =>
                set({ calls: target.value })} />
            )}
          </Field>
          <DryRun draft={draft} before={before} />
        </>
      )}
    </FormPart>
  )
}

function GraphFields({ draft, set }: DraftProps) {
  const { data } = useQuery(assistantList)
  const graphs = [...new Set(data?.map(({ graph_id: graph }) => graph))].toSorted()
  return (
    <Field label="Graph" required
      hint="It gets inputs, outputs and reference. What it sets besides becomes feedback."
    >
      {(ids) => (
        <select {...ids} value={draft.graph} required
          onChange={({ target }) => set({ graph: target.value })}
        >
          <option value="">Choose …</option>
          {graphs.map((graph) => <option key={graph} value={graph}>{graph}</option>)}
        </select>
      )}
    </Field>
  )
}

function PromptFields({ draft, set }: DraftProps) {
  return (
    <>
      <TextArea label="Prompt" required rows={5} value={draft.prompt}
        change={(prompt) => set({ prompt })} />
      <Field label="Answer"
        hint="A JSON schema, if the prompt has none. Each property becomes feedback."
      >
        {(ids) => (
          <textarea {...ids} rows={7} value={draft.schema} spellCheck={false}
            className={`${ids.className} ${css['code']}`}
            onChange={({ target }) => set({ schema: target.value })} />
        )}
      </Field>
    </>
  )
}

function ModelFields({ draft, set }: DraftProps) {
  return (
    <>
      <Field label="Variables" hint="A line each, such as question = input.question">
        {(ids) => (
          <textarea {...ids} rows={3} value={draft.mapping} spellCheck={false}
            className={`${ids.className} ${css['code']}`}
            onChange={({ target }) => set({ mapping: target.value })} />
        )}
      </Field>
      <Field label="Model" hint="Without one, the default model of the playground is asked.">
        {(ids) => (
          <textarea {...ids} rows={3} value={draft.model} spellCheck={false}
            placeholder='{"dialect": "openai", "base_url": "https://…", "model": "…"}'
            className={`${ids.className} ${css['code']}`}
            onChange={({ target }) => set({ model: target.value })} />
        )}
      </Field>
    </>
  )
}

function DryRun({ draft, before }: Pick<JudgeProps, 'draft' | 'before'>) {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async () => {
      const judge = judgeOf(draft, before)!
      const run = await newestRun(draft.project, draft.filter.trim())
      if (run === undefined) throw new Error('No run of the project meets the filter.')
      return await tryJudge(judge, run)
    },
  })
  return (
    <div className={css['dry']}>
      <Button small disabled={draft.project === '' || isPending} onClick={() => mutate()}>
        {isPending ? 'Judging …' : 'Try it on the newest run'}
      </Button>
      {error !== null && <ErrorNotice error={error} />}
      {data !== undefined && (
        <Notice>
          <dl className={css['verdicts']}>
            {data.feedback.map(({ key, score, value, comment }) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd dir="auto">{String(score ?? value)}{comment && `: ${comment}`}</dd>
              </div>
            ))}
          </dl>
          <p>Nothing of this is kept as feedback.</p>
        </Notice>
      )}
    </div>
  )
}
