/** An input or an output: as messages where it is some, else as a tree. */

import { useMemo, useState } from 'react'

import type { Json } from '../../api/client.ts'
import { after } from '../../env.ts'
import { counted } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { JsonTree } from '../../json/json-tree.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import css from './span-payload.module.css'
import { messagesIn } from './span-messages.ts'
import type { ShownMessage } from './span-messages.ts'

/** Messages that are shown at first: the newest are what the step is about. */
const shownAtFirst = 12
/** Rows of a tree that are seen without scrolling. */
const treeRows = 14

const roleWords: Readonly<Record<ShownMessage['role'], string>> = { user: 'User',
  assistant: 'Assistant', system: 'System', tool: 'Tool' }

/** A payload under its title. */
export function SpanPayload({ title, value }: { readonly title: string; readonly value: Json }) {
  const messages = useMemo(() => messagesIn(value), [value])
  const [asTree, setAsTree] = useState(false)
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    // The text is made now: a payload may have megabytes.
    await copyText(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
    setCopied(true)
    after(1_500, () => setCopied(false))
  }
  const isNothing = value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  return (
    <section className={css['payload']}>
      <header>
        <h3>{title}</h3>
        {messages !== undefined && (
          <Button kind="quiet" small onClick={() => setAsTree(!asTree)}>
            {asTree ? 'As messages' : 'As JSON'}
          </Button>
        )}
        {!isNothing && (
          <Button kind="quiet" small label={isCopied ? 'Copied' : `Copy the ${title.toLowerCase()}`}
            icon={<Icon name={isCopied ? 'check' : 'copy'} size={14} />} onClick={() =>
            void copy()} />
        )}
      </header>
      {isNothing
        ? <p className={css['none']}>Nothing</p>
        : messages !== undefined && !asTree
        ? <Messages messages={messages} />
        : typeof value === 'string'
        ? <p className={css['text']} dir="auto">{value}</p>
        : <JsonTree value={value} name={title.toLowerCase()} open={2} height={treeRows} />}
    </section>
  )
}

function Messages({ messages }: { readonly messages: readonly ShownMessage[] }) {
  const [all, setAll] = useState(false)
  const hidden = all ? 0 : Math.max(0, messages.length - shownAtFirst)
  return (
    <>
      {hidden > 0 && (
        <Button kind="quiet" small onClick={() => setAll(true)}>
          Show {counted(hidden, 'earlier message')}
        </Button>
      )}
      <ol className={css['messages']}>
        {messages.slice(hidden).map(({ role, name, text, calls }, at) => (
          <li key={at} className={css[role]}>
            <span className={css['role']}>
              {roleWords[role]}
              {name !== undefined && <span dir="auto">{name}</span>}
            </span>
            {text !== '' && (
              <div dir="auto" className={css['said']}>
                <Markdown text={text} />
              </div>
            )}
            {calls.map((call, index) => (
              <div key={index} className={css['call']}>
                <code>→ {call.name}</code>
                <JsonTree value={call.args} name="arguments" open={1} height={6} />
              </div>
            ))}
          </li>
        ))}
      </ol>
    </>
  )
}
