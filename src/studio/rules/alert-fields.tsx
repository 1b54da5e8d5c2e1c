/** The alert of a rule: what is measured, its bound, and who is called. */

import { Field } from '../parts/field.tsx'
import { FormPart } from './form-part.tsx'
import { metrics } from './rule-draft.ts'
import type { DraftProps, RuleDraft } from './rule-draft.ts'
import css from './rules.module.css'

/** Fields of the alert of a rule: a statistic, a bound, a time and an address. */
export function AlertFields({ draft, set, isBelow }: DraftProps & { readonly isBelow: boolean }) {
  return (
    <FormPart title="Alert">
      <Field label={`When this is ${isBelow ? 'below' : 'above'} a bound`}>
        {(ids) => (
          <select {...ids} value={draft.metric}
            onChange={({ target }) => set({ metric: target.value as RuleDraft['metric'] })}
          >
            <option value="">Never</option>
            {draft.metric !== '' && metrics[draft.metric] === undefined && (
              <option value={draft.metric}>{draft.metric}</option>
            )}
            {Object.entries(metrics).map(([id, words]) => (
              <option key={id} value={id}>{words}</option>
            ))}
          </select>
        )}
      </Field>
      {draft.metric !== '' && (
        <>
          <div className={css['pair']}>
            <Field label="Bound" required>
              {(ids) => (
                <input {...ids} type="number" step="any" required value={draft.threshold}
                  onChange={({ target }) => set({ threshold: target.value })} />
              )}
            </Field>
            <Field label="Over minutes" required>
              {(ids) => (
                <input {...ids} type="number" min={1} max={1_440} required value={draft.minutes}
                  onChange={({ target }) => set({ minutes: target.value })} />
              )}
            </Field>
          </div>
          <Field label="Call" required
            hint="Once for each time that the bound is crossed. Headers stay with the address."
          >
            {(ids) => (
              <input {...ids} type="url" required value={draft.alertUrl} placeholder="https://"
                onChange={({ target }) => set({ alertUrl: target.value })} />
            )}
          </Field>
        </>
      )}
    </FormPart>
  )
}
