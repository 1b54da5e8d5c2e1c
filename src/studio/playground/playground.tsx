/** The playground: messages with variables, and up to four models that answer beside each other. */

import { Link, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'

import type { Json } from '../api/client.ts'
import { jsonOrText } from '../json/json-text.ts'
import { counted } from '../parts/amounts.ts'
import { buttonClass } from '../parts/button.tsx'
import { controlClass, Field } from '../parts/field.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { useTypedInto } from '../parts/keys.ts'
import { PageHead } from '../parts/page-head.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { formatOf, manifestOf, messagesOf, placesOf, variablesIn,
  variablesOf } from '../prompts/manifest.ts'
import type { Message } from '../prompts/manifest.ts'
import { MessageEditor } from '../prompts/message-editor.tsx'
import { Answers } from './answers.tsx'
import { ExtraFields } from './extra-fields.tsx'
import css from './playground.module.css'
import { noExtras } from './question-extras.ts'
import { SaveForm } from './save-form.tsx'
import { useBeginning } from './use-beginning.ts'
import type { Beginning } from './use-beginning.ts'

/** Page of the playground: a prompt, and the models that answer it. */
export function Playground() {
  const search = useSearch({ from: '/playground' })
  const { prompt, span, project, trace } = search
  const { beginning, error, again } = useBeginning(search)
  return (
    <>
      <PageHead title="Playground" aside={prompt ?? (span && 'from a trace')}
        acts={span !== undefined && project !== undefined && trace !== undefined
          ? (
            <Link to="/traces/$project/$trace" params={{ project, trace }} search={{ span }}
              className={buttonClass('quiet')}
            >
              Back to the trace
            </Link>
          )
          : <Link to="/prompts" search={{}} className={buttonClass('quiet')}>All prompts</Link>} />
      {beginning === undefined
        ? (
          <div className={css['notice']} aria-busy={error === null}>
            {error === null
              ? <Skeleton width="60%" height={80} />
              : <ErrorNotice error={error} retry={again} />}
          </div>
        )
        : <Desk key={`${prompt} ${search.at} ${span}`} prompt={prompt} beginning={beginning} />}
    </>
  )
}

function Desk({ prompt, beginning }: {
  readonly prompt: string | undefined
  readonly beginning: Beginning
}) {
  // What is here when the desk is opened stays: a newer version must not take words away.
  const [{ manifest: given, parent, messages: first, leftOut, model }] = useState(beginning)
  const [edited, setEdited] = useState<readonly Message[]>()
  const messages = edited ?? first ?? messagesOf(given)
  const manifest = messages === undefined || (edited === undefined && given !== undefined)
    ? given
    : manifestOf(messages, given)
  const names = messages === undefined
    ? variablesOf(given)
    : variablesIn(messages.map(({ content }) => content), formatOf(given))
  const places = placesOf(manifest)
  const last = useRef<HTMLTextAreaElement>(null)
  useTypedInto(last)
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [extras, setExtras] = useState(noExtras)
  const variables = Object.fromEntries(
    names.map((
      name,
    ) => [name,
      places.includes(name) ? jsonOrText(values[name] ?? '') as Json : values[name] ?? '']
    ),
  )
  return (
    <div className={css['desk']} role="region" aria-label="Playground" tabIndex={0}>
      <section className={css['asked']} aria-label="Prompt">
        {leftOut > 0 && (
          <Notice>
            <p>{counted(leftOut, 'message')} of tools, or without words, had to be left out.</p>
          </Notice>
        )}
        {messages === undefined
          ? <JsonTree value={given} name="manifest" open={4} height={14} />
          : <MessageEditor messages={messages} change={setEdited} last={last} />}
        {names.length > 0 && (
          <div className={css['variables']} role="group" aria-label="Variables">
            {names.map((name) => (
              <Field key={name} label={name} hint={places.includes(name)
                ? 'Messages as JSON, such as [["user", "Hello"]]'
                : undefined}
              >
                {(ids) => (
                  <textarea {...ids} className={`${controlClass} ${css['grows']}`} rows={2}
                    dir="auto" value={values[name] ?? ''} onChange={({ target }) =>
                    setValues({ ...values, [name]: target.value })} />
                )}
              </Field>
            ))}
          </div>
        )}
        <ExtraFields extras={extras}
          set={(change) => setExtras((old) => ({ ...old, ...change }))} />
        <SaveForm prompt={prompt} parent={parent} manifest={manifest} />
      </section>
      <Answers manifest={manifest} variables={variables} extras={extras} model={model} />
    </div>
  )
}
