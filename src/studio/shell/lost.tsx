/** Pages that show nothing else: an address without a page, and a page that failed. */

import { Link } from '@tanstack/react-router'

import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { messageOf } from '../parts/error-message.ts'

/** For an address without a page. */
export function NotFound() {
  return (
    <Empty isPage title="There is no such page">
      <p>The address may be of another version of this server.</p>
      <Link to="/threads" search={{}} className={buttonClass()}>To the threads</Link>
    </Empty>
  )
}

/** For a page that threw: a fault of ours, with the words of the error. */
export function PageFailed({ error }: { readonly error: unknown }) {
  return (
    <Empty isPage title="This page failed">
      <p>{messageOf(error)}</p>
      <p>That is a fault of the Studio. Loading the page again may help.</p>
      <button type="button" className={buttonClass()} onClick={() => location.reload()}>
        Load again
      </button>
    </Empty>
  )
}
