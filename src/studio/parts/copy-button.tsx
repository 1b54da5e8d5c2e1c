/** A button that copies a text, and says that it did. */

import { useState } from 'react'

import { after } from '../env.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'

/** Copies `text`; `label` names what it is, such as "Copy the id". */
export function CopyButton({ text, label, icon = 'copy' }: {
  /** The text, or what makes it when it is wanted. */
  readonly text: string | (() => string)
  readonly label: string
  readonly icon?: IconName
}) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    await copyText(typeof text === 'string' ? text : text())
    setDone(true)
    after(1_500, () => setDone(false))
  }
  return (
    <Button kind="quiet" small label={done ? 'Copied' : label} onClick={() => void copy()}
      icon={<Icon name={done ? 'check' : icon} size={14} />} />
  )
}

/** Copies a text. Pages that are served without TLS from another machine have no clipboard. */
export async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
