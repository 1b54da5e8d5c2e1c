/** Messages that are edited in place. */

import type { RefObject } from 'react'

import { Button } from '../parts/button.tsx'
import { controlClass, Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { roles } from './manifest.ts'
import type { Message, Role } from './manifest.ts'
import css from './prompts.module.css'

/** The editor; disabled, it only shows them. */
export function MessageEditor({ messages, change, disabled = false, last }: {
  readonly messages: readonly Message[]
  readonly change: (messages: readonly Message[]) => void
  readonly disabled?: boolean
  /** Gets the field of the last message. */
  readonly last?: RefObject<HTMLTextAreaElement | null>
}) {
  const set = (at: number, part: Partial<Message>) =>
    change(messages.map((each, index) => index === at ? { ...each, ...part } : each))
  return (
    <ol className={css['messages']} aria-label="Messages">
      {messages.map(({ role, content }, at) => (
        <li key={at}>
          <div className={css['messageHead']}>
            <Select aria-label={`Role of message ${at + 1}`} value={role} disabled={disabled}
              onChange={({ target }) => set(at, { role: target.value as Role })}
            >
              {roles.map((each) => <option key={each}>{each}</option>)}
            </Select>
            <Button kind="quiet" small label={`Remove message ${at + 1}`} disabled={disabled}
              icon={<Icon name="close" size={14} />}
              onClick={() => change(messages.filter((_, index) => index !== at))} />
          </div>
          <textarea ref={at === messages.length - 1 ? last : undefined}
            className={`${controlClass} ${css['grows']}`} aria-label={`Message ${at + 1}`}
            dir="auto" rows={Math.min(12, Math.max(2, content.split('\n').length))}
            readOnly={disabled} value={content}
            onChange={({ target }) => set(at, { content: target.value })} />
        </li>
      ))}
      <li>
        <Button small icon={<Icon name="plus" size={14} />} disabled={disabled}
          onClick={() => change([...messages, { role: 'user', content: '' }])}
        >
          Add a message
        </Button>
      </li>
    </ol>
  )
}
