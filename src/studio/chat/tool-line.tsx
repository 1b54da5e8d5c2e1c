/** A call of a tool: one line that opens to its arguments and its result. */

import { textOf } from '../api/content.ts'
import type { ChatMessage, ToolCall } from '../live/message-merge.ts'
import { Icon } from '../parts/icon.tsx'
import { StatusGlyph, statusWords } from '../parts/status.tsx'
import type { Status } from '../parts/status.tsx'
import css from './tool-line.module.css'

/** Call of a tool as one line that opens to its arguments and its result. */
export function ToolLine({ call, result, isRunning }: {
  readonly call: ToolCall
  readonly result: ChatMessage | undefined
  readonly isRunning: boolean
}) {
  const status = statusOf(result, isRunning)
  return (
    <details className={css['tool']}>
      <summary>
        <Icon name="tool" size={14} />
        <b>{call.name === '' ? '…' : call.name}</b>
        <code>{argumentsIn(call.args)}</code>
        <StatusGlyph status={status} size={12} />
        <span className="unseen">{statusWords(status)}</span>
        <span className={css['turn']}>
          <Icon name="right" size={12} />
        </span>
      </summary>
      <pre tabIndex={0} role="group" aria-label="Arguments">{inFull(call.args)}</pre>
      {result !== undefined && (
        <pre tabIndex={0} role="group" aria-label="Result" dir="auto">{resultIn(result)}</pre>
      )}
    </details>
  )
}

function statusOf(result: ChatMessage | undefined, isRunning: boolean): Status {
  if (result !== undefined) return result.status === 'error' ? 'failed' : 'done'
  return isRunning ? 'running' : 'idle'
}

/** On one line: `city: "Oslo", days: 3`. A text is one that is not complete yet. */
function argumentsIn(args: unknown): string {
  if (typeof args === 'string') return args.slice(0, 300)
  return Object.entries(Object(args) as object)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)?.slice(0, 100)}`)
    .join(', ').slice(0, 300)
}

const inFull = (args: unknown) => typeof args === 'string' ? args : JSON.stringify(args, null, 2)

function resultIn({ content }: ChatMessage): string {
  const words = textOf(content)
  return words !== '' || content === '' ? words : JSON.stringify(content, null, 2)
}
