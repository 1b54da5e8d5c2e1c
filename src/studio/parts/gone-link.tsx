/** What a link shows that leads to nothing any more. */

import { Empty } from './empty.tsx'

/** The page. */
export function GoneLink() {
  return (
    <Empty title="This link leads nowhere" isPage>
      <p>It was taken back, or what it showed is gone.</p>
    </Empty>
  )
}
