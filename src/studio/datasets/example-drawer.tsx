/** The drawer of an example: what comes in, what should come out, its splits and its files. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import type { Example } from '../../api/index.ts'
import type { JsonObject } from '../api/client.ts'
import { createExample, deleteExample, examplesById, patchExample,
  splitsOf } from '../api/platform/examples.ts'
import { apiUrl } from '../api/place.ts'
import { queries } from '../api/query.ts'
import { isObject } from '../json/is-object.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { JsonEditor } from '../json/json-editor.tsx'
import { ErrorNotice, messageOf, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { unknownProject } from '../parts/trace-link.tsx'
import css from './datasets.module.css'

/** The drawer; without an id it makes a new example. */
export function ExampleDrawer({ datasetId, id, asOf, refusal, close }: {
  readonly datasetId: string
  readonly id: string | undefined
  readonly asOf: string | undefined
  readonly refusal: string | undefined
  readonly close: () => void
}) {
  const found = useQuery({
    queryKey: ['datasets', datasetId, 'example', id, asOf],
    queryFn: async ({ signal }) => (await examplesById(datasetId, [id!], asOf, signal))[0] ?? null,
    enabled: id !== undefined,
    refetchOnWindowFocus: false,
    // A form that began with what was read before would write that over what came since.
    gcTime: 0,
  })
  return (
    <Dialog open close={close} side title={id === undefined ? 'New example' : 'Example'}>
      {id === undefined || found.data
        ? (
          <ExampleForm datasetId={datasetId} example={found.data ?? undefined} refusal={refusal}
            close={close} />
        )
        : found.data === null
        ? <Notice>This example is not there. It may have been deleted.</Notice>
        : found.isError
        ? <ErrorNotice error={found.error} retry={() => void found.refetch()} />
        : <Skeleton width="60%" height={14} />}
    </Dialog>
  )
}

const texts = ['inputs', 'outputs', 'metadata'] as const
const labels = { inputs: 'Inputs', outputs: 'Outputs', metadata: 'Metadata' }

function ExampleForm({ datasetId, example, refusal, close }: {
  readonly datasetId: string
  readonly example: Example | undefined
  readonly refusal: string | undefined
  readonly close: () => void
}) {
  const [text, setText] = useState(() => textsOf(example))
  const [splits, setSplits] = useState(() =>
    example === undefined ? '' : splitsOf(example).join(', ')
  )
  const [fault, setFault] = useState<Partial<Record<typeof texts[number], string>>>({})
  const done = () => {
    close()
    return queries.invalidateQueries({ queryKey: ['datasets'] })
  }
  const save = useMutation({
    mutationFn: async (values: ReturnType<typeof valuesOf>) => {
      const split = splits.split(',').map((each) => each.trim()).filter((each) => each !== '')
      const body = { inputs: values.inputs ?? {}, outputs: values.outputs,
        metadata: values.metadata, split: split.length === 0 ? ['base'] : split }
      await (example === undefined
        ? createExample(datasetId, body)
        : patchExample(example.id, body))
    },
    onSuccess: done,
  })
  const remove = useMutation({ mutationFn: () => deleteExample(example!.id), onSuccess: done })
  const submit = () => {
    const faults = Object.fromEntries(
      texts.flatMap((name) => {
        const wrong = faultOf(text[name], name !== 'inputs')
        return wrong === undefined ? [] : [[name, wrong]]
      }),
    )
    setFault(faults)
    if (Object.keys(faults).length === 0) save.mutate(valuesOf(text))
  }
  const failed = save.error ?? remove.error
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      submit()
    }}>
      {texts.map((name) => (
        <section key={name}>
          <h3>{labels[name]}</h3>
          <JsonEditor label={labels[name]} text={text[name]} fault={fault[name]}
            change={(next) => setText((old) => ({ ...old, [name]: next }))} />
        </section>
      ))}
      <Field label="Splits" hint="Names with commas between them, such as train, hard.">
        {(ids) => (
          <input {...ids} value={splits} dir="auto" maxLength={1_000}
            onChange={({ target }) => setSplits(target.value)} />
        )}
      </Field>
      {example !== undefined && <Origin example={example} />}
      {failed !== null && <ErrorNotice error={failed} />}
      <footer>
        {example !== undefined && (
          <Button kind="danger" disabled={refusal !== undefined || remove.isPending}
            title={refusal ?? 'Older versions still have it.'} onClick={() => remove.mutate()}
          >
            Delete
          </Button>
        )}
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" title={refusal}
          disabled={refusal !== undefined || save.isPending}
        >
          Save
        </Button>
      </footer>
    </form>
  )
}

/** Origin of an example, and its files. */
function Origin({ example: { source_run_id: run, attachment_urls: files } }: {
  readonly example: Example
}) {
  const all = Object.entries(files ?? {})
  return (
    <>
      {all.length > 0 && (
        <section>
          <h3>Attachments</h3>
          <ul className={css['files']}>
            {all.map(([name, { presigned_url: url, mime_type: type }]) => (
              <li key={name}>
                <a href={addressOf(url)} target="_blank" rel="noreferrer" dir="auto">
                  {name.replace(/^attachment\./, '')}
                </a>{' '}
                <span className={css['quiet']}>{type}</span>
                {type?.startsWith('image/') && <Picture address={addressOf(url)} />}
              </li>
            ))}
          </ul>
        </section>
      )}
      {run !== null && (
        <p>
          Made of a span:{' '}
          <Link to="/traces/$project/$trace" params={{ project: unknownProject, trace: run }}
            search={{}}
          >
            {run.slice(0, 8)}
          </Link>
        </p>
      )}
    </>
  )
}

const addressOf = (url: string): string => apiUrl + url.replace(/^.*?(?=\/public\/download\?)/, '')

/** A picture of this server. Others are links: fetching them would tell that they are read. */
function Picture({ address }: { readonly address: string }) {
  return URL.parse(address)?.origin === location.origin
    ? <img src={address} alt="" loading="lazy" />
    : null
}

function textsOf(example: Example | undefined) {
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  const { dataset_split: _, ...metadata } = example?.metadata ?? {}
  return { inputs: json(example?.inputs ?? {}), outputs: json(example?.outputs ?? {}),
    metadata: json(metadata) }
}

function valuesOf(text: ReturnType<typeof textsOf>) {
  const read = (json: string) => JSON.parse(json === '' ? 'null' : json) as JsonObject | null
  return { inputs: read(text.inputs), outputs: read(text.outputs), metadata: read(text.metadata) }
}

function faultOf(json: string, mayBeNull: boolean): string | undefined {
  if (mayBeNull && ['', 'null'].includes(json.trim())) return undefined
  try {
    return isObject(JSON.parse(json)) ? undefined : 'This has to be an object.'
  } catch (error) {
    return messageOf(error)
  }
}
