/** A button that deletes at the second click. */

import { useState } from 'react'

import { Button } from './button.tsx'

/** The button; `sure` are its words once it was clicked. */
export function DeleteButton({ sure = 'Yes, delete it', disabled, title, act }: {
  readonly sure?: string
  readonly disabled: boolean
  readonly title?: string | undefined
  readonly act: () => void
}) {
  const [isSure, setSure] = useState(false)
  return (
    <Button kind="danger" disabled={disabled} title={title}
      onClick={() => (isSure ? act() : setSure(true))}
    >
      {isSure ? sure : 'Delete'}
    </Button>
  )
}
