/**
 * Components whose code is loaded when they are needed. React holds back what `lazy` loaded for
 * 300 ms after anything else in the page was loading; these are shown as soon as they are there.
 */

import { useEffect, useReducer, useState } from 'react'
import type { ComponentType, ReactNode } from 'react'

/** A component that is loaded later; `fetch` does so before it is needed. */
export interface Later<Props extends object> {
  (props: Props): ReactNode
  readonly fetch: () => Promise<void>
}

/** Makes one; `waiting` is shown until it is there. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>,
  waiting: ReactNode = null): Later<Props> {
  let found: ComponentType<Props> | undefined
  let asked: Promise<void> | undefined
  const fetch = () =>
    asked ??= load().then((component) => {
      found = component
    }, (error: unknown) => {
      // Whoever needs it next tries again.
      asked = undefined
      throw error
    })
  function Loaded(props: Props): ReactNode {
    const [, drawAgain] = useReducer((times: number) => times + 1, 0)
    const [failed, setFailed] = useState<{ readonly error: unknown }>()
    // What was missing when it was drawn first may be there by now.
    const wasThere = found !== undefined
    useEffect(() => {
      if (!wasThere) fetch().then(drawAgain, (error: unknown) => setFailed({ error }))
    }, [])
    if (failed !== undefined) throw failed.error
    if (found === undefined) return waiting
    const Found = found
    return <Found {...props} />
  }
  return Object.assign(Loaded, { fetch })
}
