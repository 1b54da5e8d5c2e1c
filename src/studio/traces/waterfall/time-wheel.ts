/** The wheel over the bars: with Ctrl or ⌘ it comes closer, sideways or with Shift it moves. */

import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

import { moved, zoomed } from './time-axis.ts'
import type { TimeRange } from './time-axis.ts'

/** Box in which the wheel turns, and the part of the axis that it changes. */
export interface TimeWheel {
  readonly box: RefObject<HTMLElement | null>
  /** Pixels before the bars begin. */
  readonly nameWidth: number
  readonly seen: TimeRange
  readonly whole: TimeRange
  readonly setSeen: (seen: TimeRange) => void
}

/** Listens. React's own listeners may not keep the page from zooming. */
export function useTimeWheel(wheel: TimeWheel): void {
  const now = useRef(wheel)
  now.current = wheel
  useEffect(() => {
    const box = now.current.box.current!
    const turn = (event: WheelEvent) => {
      const { nameWidth, seen, whole, setSeen } = now.current
      const { left, width } = box.getBoundingClientRect()
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX
      if (event.ctrlKey || event.metaKey) {
        const at = (event.clientX - left - nameWidth) / Math.max(1, width - nameWidth)
        setSeen(zoomed(seen, whole, Math.exp(event.deltaY / 300), Math.max(0, Math.min(1, at))))
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        setSeen(moved(seen, whole, sideways / Math.max(1, width - nameWidth)))
      } else return
      event.preventDefault()
    }
    box.addEventListener('wheel', turn, { passive: false })
    return () => box.removeEventListener('wheel', turn)
  }, [])
}
