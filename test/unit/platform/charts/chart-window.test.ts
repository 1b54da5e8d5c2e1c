/** Windows of charts: whatever a client asks for, steps are whole microseconds. */

import { expect, it } from 'vitest'

import { windowOf } from '../../../../src/platform/query/charts/chart-window.ts'

it.each([[{ minutes: 1e-9 }, 1], [{ days: 1e300 }, Number.MAX_SAFE_INTEGER], [{ minutes: 0.1 },
  6_000_000]])('A stride of %o is %d', (stride, strideUs) => {
    expect(windowOf({ start_time: 1_000, end_time: 1_000.01, stride }, 0)).toEqual({
      fromUs: 1_000_000,
      toUs: 1_000_010,
      strideUs,
    })
  })
