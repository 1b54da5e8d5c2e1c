/** Buttons, and links that look like them. */

import type { ButtonHTMLAttributes, ReactNode } from 'react'

import css from './button.module.css'

/** Weight of a button: the attention that it asks for. */
export type ButtonKind = 'plain' | 'primary' | 'quiet' | 'danger'

/** A button. One with only an icon needs a `label`. */
export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: ButtonKind
  readonly small?: boolean
  readonly icon?: ReactNode
  /** The name of a button without words; shown as its tooltip as well. */
  readonly label?: string
}

/** The class names of a button, for links that look like one. */
export function buttonClass(kind: ButtonKind = 'plain', small = false, isIcon = false): string {
  return [css['button'], css[kind], small && css['small'], isIcon && css['icon']]
    .filter(Boolean).join(' ')
}

/** Button with an icon, words or both. */
export function Button({ kind, small, icon, label, children, className, ...rest }: ButtonProps) {
  const isIcon = children === undefined || children === null
  return (
    <button type="button" aria-label={label} title={label} {...rest}
      className={`${buttonClass(kind, small, isIcon)} ${className ?? ''}`}
    >
      {icon}
      {children}
    </button>
  )
}
