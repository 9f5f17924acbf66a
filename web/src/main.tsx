import './style/index.css'
import { render } from 'preact'
import { App } from './app.js'
import { preload } from './routes.js'
import { keepScroll } from './scroll.js'

keepScroll()
preload(location.pathname)
render(<App />, document.querySelector('#page')!)
