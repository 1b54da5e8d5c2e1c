/** A column of the playground: which model is asked, and what it answers. */

import type { ConfiguredModel } from '../../api/index.ts'
import type { Endpoint, Model } from '../addresses/playground.ts'
import { Button } from '../parts/button.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { AnswerText } from './answer-text.tsx'
import type { ShownAnswer } from './model-answer.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { isEndpoint, usualUrls } from './models.ts'
import type { Workspace } from './models.ts'
import css from './playground.module.css'

const newEndpoint: Endpoint = { dialect: 'openai', base_url: usualUrls.openai, model: '' }

/** Column of one model: its choice, its settings and its answer. */
export function ModelColumn({ label, model, answer, change, remove, ...workspace }: Workspace & {
  readonly label: string
  readonly model: Model
  readonly answer: ShownAnswer | undefined
  readonly change: (model: Model) => void
  readonly remove: (() => void) | undefined
}) {
  return (
    <section className={css['answer']} aria-label={label}>
      <div className={css['columnHead']}>
        <h2>{label}</h2>
        {remove && (
          <Button kind="quiet" small label={`Remove ${label}`} onClick={remove}
            icon={<Icon name="close" size={14} />} />
        )}
      </div>
      <ModelChoice model={model} saved={workspace.saved} change={change} />
      {isEndpoint(model) && <EndpointFields model={model} change={change} {...workspace} />}
      {answer !== undefined && <AnswerText label={label} answer={answer} />}
    </section>
  )
}

/** Values of the choice: one for an endpoint, and the prefix of the names of saved models. */
const [endpoint, kept] = ['endpoint', 'kept:']

function ModelChoice({ model, saved, change }: {
  readonly model: Model
  readonly saved: readonly ConfiguredModel[]
  readonly change: (model: Model) => void
}) {
  const usual = saved.find(({ is_default: isDefault }) => isDefault)
  const chosen = typeof model === 'object' && 'saved' in model ? model.saved : undefined
  const names = saved.map(({ name }) => name)
  const value = chosen !== undefined ? kept + chosen : typeof model === 'string' ? model : endpoint
  const choose = (next: string) => {
    if (next === endpoint) change(newEndpoint)
    else if (next.startsWith(kept)) change({ saved: next.slice(kept.length) })
    else change('default')
  }
  return (
    <Field label="Model" hint={model === 'default'
      ? `That of the prompt, or else ${
        usual === undefined ? 'the default of the workspace' : usual.name
      }.`
      : undefined}
    >
      {(ids) => (
        <Select {...ids} value={value} onChange={({ target }) => choose(target.value)}>
          <option value="default">Default</option>
          {names.map((name) => <option key={name} value={kept + name}>{name}</option>)}
          {chosen !== undefined && !names.includes(chosen) && (
            <option value={kept + chosen}>{chosen}</option>
          )}
          <option value={endpoint}>Another endpoint …</option>
        </Select>
      )}
    </Field>
  )
}
