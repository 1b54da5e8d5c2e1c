/** Fields of the evaluators of an experiment: those that the workspace keeps, and a graph. */

import { useQuery } from '@tanstack/react-query'

import { assistantList } from '../api/assistants.ts'
import { keptEvaluators } from '../api/platform/background-experiments.ts'
import { Field } from '../parts/field.tsx'
import form from '../parts/form.module.css'
import type { DraftFieldsProps } from './target-fields.tsx'

/** Evaluators of one experiment. */
const evaluatorsMax = 5

/** Fields of the evaluators. */
export function EvaluatorFields({ draft, set }: DraftFieldsProps) {
  const { data: kept = [] } = useQuery(keptEvaluators)
  const { data: assistants } = useQuery(assistantList)
  const graphs = [...new Set(assistants?.map(({ graph_id: graph }) => graph))].toSorted()
  const { evaluatorIds: chosen } = draft
  const toggle = (id: string) =>
    set({ evaluatorIds: chosen.includes(id)
      ? chosen.filter((each) => each !== id)
      : [...chosen, id] })
  return (
    <>
      {kept.length > 0 && (
        <fieldset>
          <legend>Evaluators</legend>
          <div className={form['checks']}>
            {kept.map(({ id, name }) => (
              <label key={id} dir="auto">
                <input type="checkbox" checked={chosen.includes(id)}
                  disabled={!chosen.includes(id) && chosen.length >= evaluatorsMax} onChange={() =>
                  toggle(id)} />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <Field label="Graph as evaluator"
        hint="It gets inputs, outputs and reference. Rules of the dataset judge as well."
      >
        {(ids) => (
          <select {...ids} value={draft.graph}
            onChange={({ target }) => set({ graph: target.value })}
          >
            <option value="">None</option>
            {graphs.map((graph) => <option key={graph} value={graph}>{graph}</option>)}
          </select>
        )}
      </Field>
    </>
  )
}
