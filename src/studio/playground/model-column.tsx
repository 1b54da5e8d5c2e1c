/** A column of the playground: which model is asked, and what it answers. */

import type { Endpoint, Model } from '../addresses/playground.ts'
import { Button } from '../parts/button.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { AnswerText } from './answer-text.tsx'
import type { ShownAnswer } from './model-answer.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { isEndpoint, isLocal, localEndpoint, usualUrls } from './models.ts'
import type { Workspace } from './models.ts'
import css from './playground.module.css'
import { ModelSetup } from './model-setup.tsx'

const newEndpoint: Endpoint = { dialect: 'openai', base_url: usualUrls.openai, model: '' }

/** Column of one model: its choice, its settings and its answer. */
export function ModelColumn(
  { label, model, answer, isMissing, change, remove, ...workspace }: ColumnProps,
) {
  return (
    <section className={css['answer']} aria-label={label}>
      <div className={css['columnHead']}>
        <h2>{label}</h2>
        {remove && (
          <Button kind="quiet" small label={`Remove ${label}`} onClick={remove}
            icon={<Icon name="close" size={14} />} />
        )}
      </div>
      <ModelChoice model={model} {...workspace} isMissing={isMissing} change={change} />
      {isMissing
        ? <ModelSetup use={change} />
        : isEndpoint(model) && <Settings model={model} change={change} {...workspace} />}
      {answer !== undefined && <AnswerText label={label} answer={answer} />}
    </section>
  )
}

interface ColumnProps extends Workspace {
  readonly label: string
  readonly model: Model
  /** True if this model is not there: nobody has set one up. */
  readonly isMissing: boolean
  readonly answer: ShownAnswer | undefined
  readonly change: (model: Model) => void
  readonly remove: (() => void) | undefined
}

/** The fields of an endpoint. Those of a model on this machine need not be seen. */
function Settings(props: Workspace & {
  readonly model: Endpoint
  readonly change: (model: Model) => void
}) {
  if (!isLocal(props.model, props.programs)) return <EndpointFields {...props} />
  return (
    <details className={css['folded']}>
      <summary>Settings</summary>
      <EndpointFields {...props} />
    </details>
  )
}

/** Values of the choice: one for an endpoint, and prefixes for saved models and local ones. */
const [endpoint, kept, local] = ['endpoint', 'kept:', 'local:']

const localValue = ({ base_url: url, model }: Endpoint): string => `${local}${url} ${model}`

function valueOf(model: Model, programs: Workspace['programs']): string {
  if (model === 'default') return model
  if (!isEndpoint(model)) return kept + model.saved
  return isLocal(model, programs) ? localValue(model) : endpoint
}

function ModelChoice(
  { model, saved, programs, isMissing, change }: Pick<ColumnProps,
    'model' | 'saved' | 'programs' | 'isMissing' | 'change'>,
) {
  const usual = saved.find(({ is_default: isDefault }) => isDefault)
  const chosen = typeof model === 'object' && 'saved' in model ? model.saved : undefined
  const names = saved.map(({ name }) => name)
  const locals = programs.map(({ models, ...program }) => ({ ...program,
    endpoints: models.map((name) => localEndpoint(program, name)) })
  )
  const value = valueOf(model, programs)
  const choose = (next: string) => {
    if (next === endpoint) change(newEndpoint)
    else if (next.startsWith(kept)) change({ saved: next.slice(kept.length) })
    else {
      const found = locals.flatMap(({ endpoints }) => endpoints)
        .find((each) => localValue(each) === next)
      change(found ?? 'default')
    }
  }
  return (
    <Field label="Model" hint={model === 'default' && !isMissing
      ? `That of the prompt, or else ${
        usual === undefined ? 'the default of the workspace' : usual.name
      }.`
      : undefined}
    >
      {(ids) => (
        <Select {...ids} value={value} onChange={({ target }) => choose(target.value)}>
          <option value="default">{isMissing ? 'Choose a model …' : 'Default'}</option>
          {names.map((name) => <option key={name} value={kept + name}>{name}</option>)}
          {chosen !== undefined && !names.includes(chosen) && (
            <option value={kept + chosen}>{chosen}</option>
          )}
          {locals.map(({ name, base_url: url, endpoints }) => (
            <optgroup key={url} label={`${name}, on this machine`}>
              {endpoints.map((each) => (
                <option key={each.model} value={localValue(each)}>{each.model}</option>
              ))}
            </optgroup>
          ))}
          <option value={endpoint}>Another endpoint …</option>
        </Select>
      )}
    </Field>
  )
}
