/** Time since a member started; it counts on by itself. */

import { useEffect, useState } from 'react'

import { every, nowMs } from '../env.ts'
import { isHidden } from '../in-sight.ts'
import { duration } from '../parts/amounts.ts'
import { exactWords } from '../parts/times/moment.ts'

/** "up 3 min 4 s", with the time of the start as its tooltip. */
export function UpSince({ iso }: { readonly iso: string }) {
  const [now, setNow] = useState(nowMs)
  useEffect(() =>
    every(1_000, () => {
      if (!isHidden()) setNow(nowMs())
    }), [])
  const upMs = Math.max(0, now - Date.parse(iso))
  return (
    <time dateTime={iso} title={`since ${exactWords(Date.parse(iso))}`}>
      up {duration(Math.floor(upMs / 1_000) * 1_000)}
    </time>
  )
}
