/** Settings of the runs from here on: a drawer beside the chat. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { Assistant } from '../../api/index.ts'
import { graphPicture, graphSchemas } from '../api/assistants.ts'
import type { JsonObject } from '../api/client.ts'
import { isObject } from '../json/is-object.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { JsonEditor } from '../json/json-editor.tsx'
import { messageOf } from '../parts/error-message.ts'
import { SchemaForm } from '../forms/schema-form.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from '../parts/form.module.css'
import { nameOf } from '../thread/screen/use-assistant.ts'
import { plainSettings } from '../thread/screen/settings-body.ts'
import type { RunSettings } from '../thread/screen/settings-body.ts'

interface RunSettingsProps {
  readonly settings: RunSettings
  readonly change: (settings: RunSettings) => void
  readonly close: () => void
  readonly all: readonly Assistant[]
  readonly assistant: Assistant | undefined
  readonly choose: (assistantId: string) => void
}

/** Modes whose events are long: whole states, or the input of each task. */
const longModes = ['values', 'tasks', 'checkpoints', 'debug', 'events'] as const

/** The drawer. What is changed holds at once. */
export function RunSettingsDrawer(props: RunSettingsProps) {
  const { settings, change, close, all, assistant, choose } = props
  const set = (part: Partial<RunSettings>) => change({ ...settings, ...part })
  return (
    <Dialog open side close={close} title="Run settings">
      <div className={css['form']}>
        <p>They hold for what you send from this page, until you leave the thread.</p>
        <Field label="Assistant">
          {(ids) => (
            <select {...ids} value={assistant?.assistant_id ?? ''}
              onChange={({ target }) => choose(target.value)}
            >
              {all.map((each) => (
                <option key={each.assistant_id} value={each.assistant_id}>{nameOf(each)}</option>
              ))}
            </select>
          )}
        </Field>
        <ContextForm context={settings.context} assistant={assistant}
          change={(context) => set({ context })} />
        <JsonSetting label="Config" hint="For example recursion_limit, tags, configurable."
          value={settings.config} change={(config) => set({ config })} />
        {assistant !== undefined && (
          <Breakpoints assistantId={assistant.assistant_id} settings={settings} set={set} />
        )}
        <Field label="Durability" hint="When steps reach the log: at each step, or at the end.">
          {(ids) => (
            <select {...ids} value={settings.durability ?? ''}
              onChange={({ target }) => set({ durability: durabilityOf(target.value) })}
            >
              <option value="">As the server does it</option>
              <option value="sync">sync: before the next step begins</option>
              <option value="async">async: while the next step runs</option>
              <option value="exit">exit: when the run ends</option>
            </select>
          )}
        </Field>
        <JsonSetting label="Metadata" value={settings.metadata}
          change={(metadata) => set({ metadata })} />
        <Field label="Webhook" hint="Gets a POST when a run has ended.">
          {(ids) => (
            <input {...ids} type="url" value={settings.webhook ?? ''} placeholder="https://"
              onChange={({ target }) => set({ webhook: target.value })} />
          )}
        </Field>
        <Choices legend="More events in the view Events" all={longModes} chosen={settings.modes}
          change={(modes) => set({ modes })} />
        <footer>
          <Button onClick={() => change(plainSettings)}>Forget all</Button>
          <Button kind="primary" onClick={close}>Done</Button>
        </footer>
      </div>
    </Dialog>
  )
}

function durabilityOf(value: string): RunSettings['durability'] {
  return value === 'sync' || value === 'async' || value === 'exit' ? value : undefined
}

function ContextForm({ context, assistant, change }: {
  readonly context: JsonObject | undefined
  readonly assistant: Assistant | undefined
  readonly change: (context: JsonObject | undefined) => void
}) {
  const schemas = useQuery({ ...graphSchemas(assistant?.assistant_id ?? ''),
    enabled: assistant !== undefined })
  if (schemas.isLoading) return <Skeleton width="100%" height={60} />
  const schema = schemas.data?.context_schema
  if (schema == null || Object.keys(Object(schema['properties']) as object).length === 0) {
    return <JsonSetting label="Context" value={context} change={change} />
  }
  return (
    <fieldset>
      <legend>Context</legend>
      <SchemaForm schema={schema as JsonObject} value={context ?? assistant?.context ?? {}}
        change={(value) => change(value as JsonObject)} />
    </fieldset>
  )
}

/** An object as JSON; nothing is set while the text is empty. */
function JsonSetting({ label, hint, value, change }: {
  readonly label: string
  readonly hint?: string
  readonly value: JsonObject | undefined
  readonly change: (value: JsonObject | undefined) => void
}) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [fault, setFault] = useState<string>()
  const write = (next: string) => {
    setText(next)
    try {
      const parsed: unknown = next.trim() === '' ? undefined : JSON.parse(next)
      setFault(isObject(parsed) || parsed === undefined ? undefined : 'It is an object.')
      change(isObject(parsed) ? parsed as JsonObject : undefined)
    } catch (error) {
      setFault(messageOf(error))
    }
  }
  return (
    <fieldset>
      <legend>{label}</legend>
      <JsonEditor label={label} text={text} change={write} fault={fault} />
      {hint !== undefined && <small>{hint}</small>}
    </fieldset>
  )
}

function Breakpoints({ assistantId, settings, set }: {
  readonly assistantId: string
  readonly settings: RunSettings
  readonly set: (part: Partial<RunSettings>) => void
}) {
  const { data: picture } = useQuery(graphPicture(assistantId))
  const nodes = picture?.nodes.map(({ id }) => String(id))
    .filter((id) => !id.startsWith('__') && !id.includes(':')) ?? []
  if (nodes.length === 0) return null
  return (
    <>
      <Choices legend="Pause before" all={nodes} chosen={settings.interruptBefore}
        change={(interruptBefore) => set({ interruptBefore })} />
      <Choices legend="Pause after" all={nodes} chosen={settings.interruptAfter}
        change={(interruptAfter) => set({ interruptAfter })} />
    </>
  )
}

function Choices<Name extends string>({ legend, all, chosen, change }: {
  readonly legend: string
  readonly all: readonly Name[]
  readonly chosen: readonly Name[]
  readonly change: (chosen: readonly Name[]) => void
}) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div className={css['checks']}>
        {all.map((each) => (
          <label key={each}>
            <input type="checkbox" checked={chosen.includes(each)} onChange={({ target }) =>
              change(
                target.checked ? [...chosen, each] : chosen.filter((one) => one !== each),
              )} />
            {each}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
