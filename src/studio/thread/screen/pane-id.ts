/** The id of the pane that the tabs of a narrow window show. */

import type { threadPanes } from '../../addresses/thread.ts'
import type { Screen } from './use-screen.ts'

/** It is on the chosen pane only. */
export function paneId(pane: typeof threadPanes[number], { search }: Screen): string | undefined {
  return (search.pane ?? 'middle') === pane ? 'pane-panel' : undefined
}
