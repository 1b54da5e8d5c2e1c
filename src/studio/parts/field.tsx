/** Fields of forms: a label, the control, and what is wrong with it. */

import { useId } from 'react'
import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes,
  TextareaHTMLAttributes } from 'react'

import css from './field.module.css'

/** The class name of controls that a field does not make itself. */
export const controlClass = css['control'] ?? ''

/** A labelled control. `children` gets the ids that join the control to its label and words. */
export interface FieldProps {
  readonly label: string
  readonly required?: boolean
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly children: (ids: {
    readonly id: string
    readonly 'aria-describedby': string | undefined
    readonly 'aria-invalid': boolean
    readonly className: string
  }) => ReactNode
}

/** A labelled control of any kind. */
export function Field({ label, required, hint, error, children }: FieldProps) {
  const id = useId()
  const words = error ?? hint
  return (
    <div className={css['field']}>
      <label htmlFor={id}>
        {label}
        {required && <span className={css['required']} aria-hidden="true">*</span>}
      </label>
      {children({ id, className: controlClass, 'aria-invalid': error !== undefined,
        'aria-describedby': words === undefined ? undefined : `${id}-words` })}
      {words !== undefined && (
        <p id={`${id}-words`} className={error === undefined ? css['hint'] : css['error']}>
          {words}
        </p>
      )}
    </div>
  )
}

interface TextProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly change: (text: string) => void
}

/** A labelled line of text. The browser sends no form in which a required one is empty. */
export function TextField({ label, hint, error, change, ...rest }:
  & TextProps
  & Omit<InputHTMLAttributes<HTMLInputElement>, keyof TextProps>) {
  return (
    <Field label={label} required={rest.required} hint={hint} error={error}>
      {(ids) => (
        <input dir="auto" {...rest} {...ids} onChange={({ target }) => change(target.value)} />
      )}
    </Field>
  )
}

/** A labelled text of several lines. */
export function TextArea({ label, hint, error, change, ...rest }:
  & TextProps
  & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, keyof TextProps>) {
  return (
    <Field label={label} required={rest.required} hint={hint} error={error}>
      {(ids) => (
        <textarea dir="auto" {...rest} {...ids} onChange={({ target }) => change(target.value)} />
      )}
    </Field>
  )
}

/** One line of text without a label beside it; give it an `aria-label`. */
export function Input({ className, ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return <input {...rest} className={`${controlClass} ${className ?? ''}`} />
}

/** The browser's own list of choices. */
export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select {...rest} className={`${controlClass} ${className ?? ''}`} />
}
