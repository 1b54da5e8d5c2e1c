/** One message of a conversation. */

import { lazy, memo, Suspense, useState } from 'react'

import { textOf } from '../api/content.ts'
import { useLive } from '../live/live-store.ts'
import type { LiveStore } from '../live/live-store.ts'
import type { ChatMessage } from '../live/message-merge.ts'
import { count } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Markdown } from '../parts/markdown.tsx'
import css from './message.module.css'
import type { ChatRow } from './messages.ts'

const ContentPart = lazy(async () => ({
  default: (await import('./content-part.tsx')).ContentPart,
}))
const OwnEditor = lazy(async () => ({ default: (await import('./own-editor.tsx')).OwnEditor }))
const ToolLine = lazy(async () => ({ default: (await import('./tool-line.tsx')).ToolLine }))

interface MessageProps {
  readonly row: ChatRow
  readonly store: LiveStore
  readonly results: ReadonlyMap<string, ChatMessage>
  readonly edit: ((message: ChatMessage, words: string) => Promise<void>) | undefined
}

/** A message; one that is being written follows the run by itself. */
export const Message = memo(function Message({ row, store, results, edit }: MessageProps) {
  const live = useLive(store, ({ run }) => row.isLive ? run?.messages.get(row.key) : undefined)
  const isWriting = useLive(store, ({ run }) => row.isLive && run?.over === false)
  const message = live ?? row.message
  if (message.type === 'human') return <Own message={message} edit={edit} />
  if (message.type === 'answer') return <Answer message={message} />
  return (
    <article className={css['message']} aria-label={speakerOf(message)}>
      {message.type !== 'ai' && <p className={css['role']}>{speakerOf(message)}</p>}
      <Suspense>
        <Content content={message.content} />
        {message.tool_calls?.map((call, place) => (
          <ToolLine key={call.id ?? place} call={call} result={results.get(call.id ?? '')}
            isRunning={isWriting} />
        ))}
      </Suspense>
      {isWriting && <span className={css['caret']} aria-hidden="true" />}
      {message.usage_metadata != null && <UsageLine usage={message.usage_metadata} />}
    </article>
  )
})

function speakerOf({ type, name }: ChatMessage): string {
  if (name != null && name !== '') return name
  return { ai: 'Assistant', system: 'System', tool: 'Tool', human: 'You' }[type] ?? type
}

function Content({ content }: { readonly content: unknown }) {
  if (typeof content === 'string') return content === '' ? null : <Markdown text={content} />
  if (!Array.isArray(content)) return null
  return content.map((part: unknown, place) => <ContentPart key={place} part={part} />)
}

function UsageLine({ usage }: { readonly usage: NonNullable<ChatMessage['usage_metadata']> }) {
  const { input_tokens: read = 0, output_tokens: written = 0 } = usage
  if (read + written === 0) return null
  return <p className={css['usage']}>{count(read)} tokens in, {count(written)} out</p>
}

function Own({ message, edit }: {
  readonly message: ChatMessage
  readonly edit: MessageProps['edit']
}) {
  const [isEditing, setEditing] = useState(false)
  const words = textOf(message.content)
  const others = Array.isArray(message.content)
    ? message.content.filter((part) => textOf([part]) === '')
    : []
  if (isEditing && edit !== undefined) {
    return (
      <Suspense>
        <OwnEditor words={words} close={() => setEditing(false)} save={(other) =>
          edit(message, other)} />
      </Suspense>
    )
  }
  return (
    <article className={`${css['message']} ${css['own']}`} aria-label="You">
      {edit !== undefined && message.id != null && (
        <Button small kind="quiet" className={css['edit'] ?? ''} label="Edit your message"
          icon={<Icon name="edit" size={14} />} onClick={() => setEditing(true)} />
      )}
      <div className={css['bubble']} dir="auto">
        {words}
        {others.map((part: unknown, place) => <ContentPart key={place} part={part} />)}
      </div>
    </article>
  )
}

/** The answer to a question, with who gave it. */
function Answer({ message: { content, name } }: { readonly message: ChatMessage }) {
  const who = name ?? 'You'
  return (
    <article className={`${css['message']} ${css['own']}`} aria-label={`Answer of ${who}`}>
      <div className={css['bubble']} dir="auto">
        <p className={css['role']}>{who} answered</p>
        {String(content)}
      </div>
    </article>
  )
}
