/** Where this page and the API lie. Read once: the address bar changes later. */

/** The address of the folder of this page, with a slash at its end. */
export const studioUrl = new URL('./', document.baseURI)

const elsewhere = document.querySelector<HTMLMetaElement>('meta[name=heddle-api]')?.content

/** What paths of the API follow: the server of this page, or the one that it was made for. */
export const apiUrl = elsewhere === undefined || elsewhere === ''
  ? new URL('../', studioUrl).href.replace(/\/$/, '')
  : elsewhere.replace(/\/$/, '')
