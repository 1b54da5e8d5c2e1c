/** A value that has stopped changing: keys that are held down ask the server for nothing. */

import { useEffect, useState } from 'react'

import { after } from '../env.ts'

/** The value as it was when it last stood still for this time. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => after(ms, () => setSettled(value)), [value, ms])
  return settled
}
