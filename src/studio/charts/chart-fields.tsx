/** The fields of the editor of a chart. */

import { useQuery } from '@tanstack/react-query'

import type { Dashboard } from '../../api/index.ts'
import { projectNames } from '../api/platform/projects.ts'
import { Field, TextField } from '../parts/field.tsx'
import type { ChartWidth } from './arrange.ts'
import { groupings, measures } from './chart-draft.ts'
import type { ChartDraft } from './chart-draft.ts'
import css from './charts.module.css'

interface FieldsProps {
  readonly draft: ChartDraft
  readonly set: (change: Partial<ChartDraft>) => void
}

/** All fields of the editor of a chart, and the dashboard that it is on. */
export function ChartFields({ draft, set, all, place, setPlace }: FieldsProps & {
  readonly all: readonly Dashboard[]
  readonly place: string
  readonly setPlace: (id: string) => void
}) {
  return (
    <>
      <TextField label="Title" required value={draft.title} maxLength={1_000} autoComplete="off"
        change={(title) => set({ title })} />
      {draft.measure === 'own'
        ? (
          <p className={css['hint']}>
            What this chart shows was set by the API: it stays as it is.
          </p>
        )
        : <What draft={draft} set={set} />}
      <div className={css['pair']}>
        <Choice label="Chart type" value={draft.kind} set={(kind) => set({ kind })}
          words={{ line: 'Lines', bar: 'Bars' }} />
        <Choice label="Width" value={draft.width} set={(width) => set({ width })}
          words={widthWords} />
      </div>
      {all.length > 0 && (
        <Field label="Dashboard">
          {(ids) => (
            <select {...ids} value={place} onChange={({ target }) => setPlace(target.value)}>
              {all.map(({ id, title }) => <option key={id} value={id}>{title}</option>)}
            </select>
          )}
        </Field>
      )}
    </>
  )
}

const widthWords: Readonly<Record<ChartWidth, string>> = { third: 'A third', half: 'Half',
  full: 'Whole' }
const measureWords = Object.fromEntries(
  Object.entries(measures).map(([id, { words }]) => [id, words]),
) as Readonly<Record<keyof typeof measures, string>>

function What({ draft, set }: FieldsProps) {
  const { measure, groupBy, about } = draft
  const isOfModels = /tokens|cost|firstToken/i.test(measure)
  return (
    <>
      <Choice label="Shows" value={measure as keyof typeof measures} words={measureWords}
        set={(id) => set({ measure: id })} />
      {measure === 'feedback' && (
        <Field label="Feedback" required hint="The key of the feedback, such as correctness.">
          {(ids) => (
            <input {...ids} value={draft.feedbackKey} required maxLength={180} spellCheck={false}
              onChange={({ target }) => set({ feedbackKey: target.value })} />
          )}
        </Field>
      )}
      <ProjectField draft={draft} set={set} />
      <Choice label="Of" value={about} set={(value) => set({ about: value })}
        words={{ traces: 'Traces', runs: 'Every run in them' }} />
      <Field label="Filter" hint="Words as in the list of traces, or the language of the API.">
        {(ids) => (
          <input {...ids} value={draft.filter} maxLength={8_000} spellCheck={false}
            placeholder="status:error latency>2s tag:web"
            onChange={({ target }) => set({ filter: target.value })} />
        )}
      </Field>
      <div className={css['pair']}>
        <Choice label="Group by" value={groupBy} words={groupings}
          set={(value) => set({ groupBy: value })} />
        {groupBy === 'metadata' && (
          <Field label="Key" required>
            {(ids) => (
              <input {...ids} value={draft.groupKey} required maxLength={1_000} spellCheck={false}
                onChange={({ target }) => set({ groupKey: target.value })} />
            )}
          </Field>
        )}
      </div>
      {isOfModels && groupBy !== 'none' && about === 'traces' && (
        <p className={css['hint']}>
          Divided, each run counts its own tokens and costs: those of models are in “Every run”.
        </p>
      )}
    </>
  )
}

function ProjectField({ draft: { project }, set }: FieldsProps) {
  const { data } = useQuery(projectNames)
  const isKnown = project === '' || data?.some(({ id }) => id === project)
  return (
    <Field label="Project" required>
      {(ids) => (
        <select {...ids} value={project} required
          onChange={({ target }) => set({ project: target.value })}
        >
          <option value="">Choose …</option>
          {!isKnown && <option value={project}>{project}</option>}
          {data?.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
      )}
    </Field>
  )
}

function Choice<Value extends string>({ label, value, words, set }: {
  readonly label: string
  readonly value: Value
  readonly words: Readonly<Record<Value, string>>
  readonly set: (value: Value) => void
}) {
  const all = Object.keys(words) as Value[]
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={value}
          onChange={({ target }) => set(all.find((each) => each === target.value)!)}
        >
          {all.map((each) => <option key={each} value={each}>{words[each]}</option>)}
        </select>
      )}
    </Field>
  )
}
