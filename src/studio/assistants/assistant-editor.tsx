/** Makes an assistant, or a new version of one. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { Assistant } from '../../api/index.ts'
import { contentIn, createAssistant, patchAssistant } from '../api/assistant-versions.ts'
import type { AssistantContent } from '../api/assistant-versions.ts'
import { assistantList, graphSchemas } from '../api/assistants.ts'
import { fieldFaults } from '../api/client.ts'
import type { JsonObject } from '../api/client.ts'
import { faultsOf, placeOf } from '../forms/values.ts'
import { Button } from '../parts/button.tsx'
import { messageOf } from '../parts/error-message.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Select, TextArea, TextField } from '../parts/field.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { SchemaForm } from '../forms/schema-form.tsx'
import type { SchemaFormProps } from '../forms/schema-form.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './assistants.module.css'
import { isMadeWithGraph } from './changes.ts'

/** Content of an assistant that the editor begins with, and its callbacks. */
export interface AssistantEditorProps {
  readonly graphs: readonly string[]
  /** The graph of a new assistant at first. */
  readonly graph: string | undefined
  /** The version that the new one begins with. */
  readonly from?: Assistant | undefined
  /** The newest version there is. */
  readonly newest?: number
  readonly close: () => void
  readonly saved: (assistant: Assistant) => void
}

type Faults = Readonly<Record<string, string>>

/** A drawer with the form. */
export function AssistantEditor(
  { graphs, graph: graphAtFirst, from, newest = 0, close, saved }: AssistantEditorProps,
) {
  const [graph, setGraph] = useState(graphAtFirst ?? graphs[0] ?? '')
  const schema = useContextSchema(graph, from)
  const { content, set, part, errors, submit, save } = useEditor(graph, from, schema.data, saved)
  return (
    <Dialog side open close={close}
      title={from === undefined ? 'New assistant' : `Edit ${from.name || 'the assistant'}`}
    >
      <form className={css['editor']} noValidate onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}>
        {from !== undefined && (
          <p className={css['none']}>
            The form begins with v{from.version}. Saving makes v{newest + 1}, whole as it stands
            here, and active.
          </p>
        )}
        {from === undefined && (
          <Field label="Graph" required error={errors['graph_id']}>
            {(ids) => (
              <Select {...ids} value={graph} onChange={({ target }) => setGraph(target.value)}>
                {graphs.map((each) => <option key={each}>{each}</option>)}
              </Select>
            )}
          </Field>
        )}
        <TextField label="Name" required value={content.name} error={errors['name']}
          autoComplete="off" change={(name) => set({ name })} />
        <TextArea label="Description" rows={2} value={content.description ?? ''}
          error={errors['description']} change={(words) => set({ description: words || null })} />
        <Context key={graph} schema={schema} isKnown={graph !== ''} part={part('context')} />
        <details className={css['part']}>
          <summary>Config and metadata</summary>
          <SchemaForm schema={{}} label="Config" {...part('config')} />
          <SchemaForm schema={{}} label="Metadata" {...part('metadata')} />
          {from !== undefined && (
            <p className={css['none']}>Keys of metadata can be changed, not removed.</p>
          )}
        </details>
        {save.isError && <ErrorNotice error={save.error} retry={() => save.mutate()} />}
        <div className={css['acts']}>
          <Button type="submit" kind="primary" disabled={save.isPending}>
            {from === undefined ? 'Create' : `Save as v${newest + 1}`}
          </Button>
          <Button kind="quiet" onClick={close}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The form for the context, by its schema. */
function Context({ schema, isKnown, part }: {
  readonly schema: ReturnType<typeof useContextSchema>
  /** True if a graph is chosen. */
  readonly isKnown: boolean
  readonly part: Omit<SchemaFormProps, 'schema' | 'label'>
}) {
  return (
    <section className={css['part']}>
      <h3>Context</h3>
      {schema.isPending && isKnown && <Skeleton width="100%" height={60} />}
      {schema.isError && (
        <Notice tone="failed">
          <p>The form of this graph is not known. {messageOf(schema.error)}</p>
        </Notice>
      )}
      {!schema.isPending && <SchemaForm schema={schema.data ?? {}} label="Context" {...part} />}
    </section>
  )
}

/** The edited content, its faults, and the call that saves it. */
function useEditor(graph: string, from: Assistant | undefined, schema: JsonObject | undefined,
  saved: AssistantEditorProps['saved']) {
  const [content, setContent] = useState<AssistantContent>(() => contentOf(from))
  const [tried, setTried] = useState(false)
  const [broken, setBroken] = useState<Readonly<Record<string, boolean>>>({})
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: () =>
      from === undefined
        ? createAssistant(graph, content)
        : patchAssistant(from.assistant_id, content),
    onSuccess: async (assistant) => {
      await client.invalidateQueries({ queryKey: ['assistants'] })
      saved(assistant)
    },
  })
  const faults = faultsIn(content, schema)
  const errors = { ...fieldFaults(save.error), ...tried ? faults : {} }
  const set = (part: Partial<AssistantContent>) => setContent({ ...content, ...part })
  const part = (name: 'context' | 'config' | 'metadata') => ({
    value: content[name],
    errors: within(errors, name),
    change: (value: unknown) => set({ [name]: value ?? {} }),
    broken: (places: readonly string[]) =>
      setBroken((all) => ({ ...all, [name]: places.length > 0 })),
  })
  const submit = () => {
    setTried(true)
    const isWhole = Object.keys(faults).length === 0 && !Object.values(broken).includes(true)
    if (isWhole && !save.isPending) save.mutate()
  }
  return { content, set, part, errors, submit, save }
}

function contentOf(from: Assistant | undefined): AssistantContent {
  return from === undefined
    ? { name: '', description: null, config: {}, context: {}, metadata: {} }
    : contentIn(from)
}

/** The schema of the context of a graph, by the assistant that the graph has. */
function useContextSchema(graph: string, from: Assistant | undefined) {
  const { data: all = [] } = useQuery(assistantList)
  const of = from ?? all.find((each) => each.graph_id === graph && isMadeWithGraph(each))
  const id = of?.assistant_id ?? graph
  return useQuery({ ...graphSchemas(id), enabled: id !== '',
    select: ({ context_schema: schema }): JsonObject => (schema ?? {}) as JsonObject })
}

function faultsIn(content: AssistantContent, schema: JsonObject | undefined): Faults {
  const faults: Record<string, string> = {}
  if (content.name.trim() === '') faults['name'] = 'is required'
  for (const [place, words] of Object.entries(faultsOf(schema ?? {}, content.context))) {
    faults[placeOf('context', place)] = words
  }
  for (const name of ['context', 'config', 'metadata'] as const) {
    const value: unknown = content[name]
    if (typeof value !== 'object' || Array.isArray(value)) faults[name] = 'must be an object'
  }
  return faults
}

/** The faults of a part of the body, by their place in it. */
function within(faults: Faults, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(faults).flatMap(([place, words]) => {
    if (place === name) return [['', words]]
    return place.startsWith(`${name}.`) ? [[place.slice(name.length + 1), words]] : []
  }))
}
