/** A formula in a text: set late, and read as TeX until then. */

import { useMemo } from 'react'

import css from './code.module.css'
import type { FormulaToken } from './formula-marks.ts'
import { useLoaded } from './use-loaded.ts'

/** Formula in its line; one that cannot be set is shown as it was written. */
export function Formula({ token: { text, raw, isDisplay } }: { readonly token: FormulaToken }) {
  const setter = useLoaded(() => import('./tex.ts'), true)
  const set = useMemo(() => setter?.mathOf(text, isDisplay), [setter, text, isDisplay])
  return set === undefined
    ? <code>{raw.trim()}</code>
    : <span className={css['formula']} title={text}>{set}</span>
}
