import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { Skeleton } from '../parts/States.js'

/** The home page of signed-in users is the ranking. */
export default function Home() {
  const { route } = useLocation()
  useEffect(() => route('/p/classement', true), [])
  return <Skeleton rows={8} />
}
